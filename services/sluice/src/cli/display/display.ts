import type { Outcome, PlannedMutations } from '@sluice/messages';

/** Shows the progress of a run. */
export interface Display {
  started(lines: readonly string[]): void;
  /** All caches are synced. */
  synced(): void;
  applied(applied: Applied): void;
  /** `clusters`: their phases at the end, if there may be several. */
  ended(statistics: Statistics, ranMs: number, clusters?: readonly ClusterPhase[]): void;
}

export interface ClusterPhase {
  readonly name: string;
  readonly phase: string;
}

/** Counts an outcome and shows it. */
export function recordOutcome(
  statistics: Statistics,
  display: Pick<Display, 'applied'>,
  { cluster, plan, outcome }: Omit<Applied, 'latencyMs'>,
): void {
  const since = plan.causes.first[0]?.observedAt ?? plan.decidedAt;
  const applied = { cluster, plan, outcome, latencyMs: outcome.completedAt - since };
  statistics.add(applied);
  display.applied(applied);
}

/** One plan with its Outcome, as the displays show it. */
export interface Applied {
  readonly cluster: string;
  readonly plan: PlannedMutations;
  readonly outcome: Outcome;
  /** From the watch event to the API server's last response, in milliseconds. */
  readonly latencyMs: number;
}

export interface Latencies {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/** Number of latest latencies from which the percentiles are computed. */
const maxLatencies = 100_000;

/** Counts plans, writes and latencies of a run. */
export class Statistics {
  plans = 0;
  /** Plans that were not applied. */
  failures = 0;
  /** Plans that were decided again because an object had changed. */
  conflicts = 0;
  /** Plans that the API server refused. */
  refusals = 0;
  retries = 0;
  causes = 0;
  malformed = 0;
  readonly writes = { create: 0, update: 0, delete: 0 };
  readonly #services = new Set<string>();
  readonly #refused = new Map<string, string>();
  readonly #latencies: number[] = [];

  add({ cluster, plan, outcome, latencyMs }: Applied): void {
    this.plans++;
    this.retries += outcome.retries;
    this.causes += plan.causes.first.length + plan.causes.more;
    const service = `${cluster}/${plan.key.namespace}/${plan.key.service}`;
    this.#services.add(service);
    this.#count(`${service}/${plan.controller}`, outcome);
    for (const { status, verb } of outcome.results) if (status === 'applied') this.writes[verb]++;
    this.#latencies[(this.plans - 1) % maxLatencies] = latencyMs;
  }

  #count(name: string, { status, message, results }: Applied['outcome']): void {
    if (status === 'applied' || status === 'namespaceTerminating') return void this.#refused.delete(name);
    this.failures++;
    if (status === 'conflict' && results.length > 0) this.conflicts++;
    if (status !== 'rejected') return;
    this.refusals++;
    this.#refused.set(name, message);
  }

  /** Why the API server refused the last plan, by `CLUSTER/NAMESPACE/SERVICE/CONTROLLER`. */
  get refused(): ReadonlyMap<string, string> {
    return this.#refused;
  }

  /** Forgets refused plans that no later decision needs, for example those of a deleted Service. `parked`: those that remain. */
  keepRefused(parked: ReadonlySet<string>): void {
    for (const name of this.#refused.keys()) if (!parked.has(name)) this.#refused.delete(name);
  }

  get services(): number {
    return this.#services.size;
  }

  /** Percentiles by nearest rank. Undefined if there was no plan. */
  get latencies(): Latencies | undefined {
    const sorted = this.#latencies.toSorted((a, b) => a - b);
    const at = (q: number) => sorted[Math.ceil(q * sorted.length) - 1];
    const [p50, p99, max] = [at(0.5), at(0.99), sorted.at(-1)];
    return p50 === undefined || p99 === undefined || max === undefined ? undefined : { p50, p99, max };
  }
}
