import type { Applied } from './applied.ts';
import { writesOf } from './writes.ts';

export interface Latencies {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/** Number of latest latencies maxLatencies for the percentiles. */
const maxLatencies = 100_000;

/** Counts plans, writes and latencies of a run. */
export class Statistics {
  plans = 0;
  failures = 0;
  retries = 0;
  causes = 0;
  malformed = 0;
  readonly writes = { create: 0, update: 0, delete: 0 };
  readonly #services = new Set<string>();
  readonly #latencies: number[] = [];

  add({ plan, outcome, latencyMs }: Applied): void {
    this.plans++;
    this.retries += outcome.retries;
    this.causes += plan.causes.first.length + plan.causes.more;
    if (outcome.status !== 'applied' && outcome.status !== 'namespaceTerminating') this.failures++;
    this.#services.add(`${plan.key.cluster}/${plan.key.namespace}/${plan.key.service}`);
    for (const write of writesOf(plan, outcome)) {
      if (write.applied) this.writes[write.verb]++;
    }
    this.#latencies[(this.plans - 1) % maxLatencies] = latencyMs;
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
