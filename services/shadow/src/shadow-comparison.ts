import { formatServiceKey, type PlannedMutations, type ServiceKey } from '@sluice/messages';
import type { Controller } from '@sluice/model';
import { type Clock, type Logger, sleep } from '@sluice/platform';
import type { Metrics } from '@sluice/telemetry';
import type { ClusterState } from './comparison/normalise.ts';
import { DiffTracker, type PendingDiff } from './diff-tracker.ts';
import type { ReportedDifference, ShadowReport } from './report.ts';
import { type Examined, type Explained, examine } from './samples.ts';

/** A cluster that Sluice only reads. */
export interface ShadowedCluster {
  readonly name: string;
  readonly identity: string;
  readonly server: string;
  readonly version: string;
  /** Minor version of Kubernetes. */
  readonly minor: number;
  /** Reads the current objects of one Service from the API server. */
  readonly existing: (key: ServiceKey, signal: AbortSignal) => Promise<ClusterState>;
}

interface ShadowComparisonOptions {
  readonly clusters: readonly ShadowedCluster[];
  readonly maxEndpointsPerSlice: number;
  /** How long the upstream controllers may take before a disagreement counts as a difference, in milliseconds. */
  readonly gracePeriodMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Asks the watcher for a fresh snapshot of one Service. */
  readonly requestResync: (key: ServiceKey) => Promise<void>;
  readonly onDifference?: (difference: ReportedDifference) => void;
  /** A reported difference has gone away. */
  readonly onResolved?: (difference: ReportedDifference) => void;
}

/** Interval between checks of pending differences, in milliseconds. */
const checkIntervalMs = 500;
/** How long a requested resync of one Service may take, in milliseconds. */
const resyncMs = 2_000;
/** Interval after which a lasting difference is checked again, in milliseconds. */
const recheckIntervalMs = 30_000;
const maxConcurrentChecks = 8;

/** Compares the plans of a reconciler with what the cluster's own controllers write. */
export class ShadowComparison {
  readonly tracker: DiffTracker<readonly ReportedDifference[]>;
  readonly #options: ShadowComparisonOptions;
  readonly #clusters: ReadonlyMap<string, ShadowedCluster>;
  readonly #startedAt: number;
  readonly #lasting = { explained: 0, unexplained: 0, resolved: 0 };
  readonly #checking = new Set<PendingDiff<readonly ReportedDifference[]>>();
  #malformed = 0;

  constructor(options: ShadowComparisonOptions) {
    this.#options = options;
    this.#startedAt = options.clock.now();
    this.#clusters = new Map(options.clusters.map((cluster) => [cluster.identity, cluster]));
    this.tracker = new DiffTracker((pending, leadMs) => this.#resolved(pending, leadMs));
  }

  decided(key: ServiceKey, controller: Controller, plan: PlannedMutations | undefined): void {
    this.tracker.decided(key, controller, plan, this.#options.clock.now());
  }

  /** The cluster's own controllers wrote an object of the Service. */
  wrote(key: ServiceKey, controller: Controller): void {
    this.tracker.wrote(key, controller, this.#options.clock.now());
  }

  malformed(): void {
    this.#malformed++;
  }

  report(): ShadowReport {
    const tracker = this.tracker;
    const stands = new Map<string, 'waiting' | 'explained' | 'unexplained'>();
    const differences: ReportedDifference[] = [];
    for (const { key, finding } of tracker.pending) {
      const name = `${key.cluster}/${key.namespace}/${key.service}`;
      const before = stands.get(name);
      if (finding === null) {
        if (before === undefined) stands.set(name, 'waiting');
        continue;
      }
      differences.push(...finding);
      const explained = finding.every(({ explanation }) => explanation !== null);
      stands.set(name, explained && before !== 'unexplained' ? 'explained' : 'unexplained');
    }
    const count = (stand: string) => [...stands.values()].filter((other) => other === stand).length;
    return {
      ranMs: this.#options.clock.now() - this.#startedAt,
      clusters: this.#options.clusters.map(({ name, identity, server, version }) => ({
        name,
        identity,
        server,
        version,
      })),
      services: {
        total: tracker.services,
        agree: Math.max(0, tracker.services - stands.size),
        waiting: count('waiting'),
        explained: count('explained'),
        unexplained: count('unexplained'),
      },
      decisions: tracker.decisions,
      writes: tracker.writes,
      sooner: tracker.sooner.percentiles,
      later: tracker.later.percentiles,
      withdrawn: tracker.withdrawn,
      lasting: { ...this.#lasting },
      malformed: this.#malformed,
      differences,
    };
  }

  /** Checks pending differences once the upstream controllers have had time to write. Runs until `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, gracePeriodMs, requestResync, logger } = this.#options;
    while (!signal.aborted) {
      await sleep(clock, checkIntervalMs, signal);
      this.tracker.prune();
      const now = clock.now();
      for (const pending of this.tracker.pending) {
        if (now - pending.since < gracePeriodMs || this.#checking.has(pending)) continue;
        if (pending.resyncRequestedAt === null) {
          pending.resyncRequestedAt = now;
          await requestResync(pending.key);
        } else if (now - pending.resyncRequestedAt >= (pending.finding === null ? resyncMs : recheckIntervalMs)) {
          if (this.#checking.size >= maxConcurrentChecks) continue;
          this.#checking.add(pending);
          this.#examine(pending, signal)
            .catch((error: unknown) =>
              logger.warn('cannot check a difference', { key: formatServiceKey(pending.key), error }),
            )
            .finally(() => this.#checking.delete(pending));
        }
      }
    }
  }

  async #examine(pending: PendingDiff<readonly ReportedDifference[]>, signal: AbortSignal): Promise<void> {
    const { maxEndpointsPerSlice, clock } = this.#options;
    const cluster = this.#clusters.get(pending.key.cluster);
    if (cluster === undefined) return;
    const state = await cluster.existing(pending.key, signal);
    const { overlooked, plan } = pending;
    this.#note(pending, examine(state, plan, { overlooked, maxEndpointsPerSlice, minor: cluster.minor }), cluster);
    pending.resyncRequestedAt = clock.now();
  }

  #note(pending: PendingDiff<readonly ReportedDifference[]>, examined: Examined, cluster: ShadowedCluster): void {
    if (examined === 'passed') return;
    if (examined === 'equal') return this.tracker.discard(pending);
    const isNew = pending.finding === null;
    pending.finding = examined.map((found) => reported(pending, found, cluster));
    if (!isNew) return;
    for (const difference of pending.finding) {
      this.#lasting[difference.explanation === null ? 'unexplained' : 'explained']++;
      const labels = { identity: pending.key.cluster, explained: String(difference.explanation !== null) };
      this.#options.metrics.inc('sluice_shadow_differences_total', labels);
      this.#options.onDifference?.(difference);
    }
  }

  #resolved({ key, controller, finding }: PendingDiff<readonly ReportedDifference[]>, leadMs: number | null): void {
    if (leadMs !== null) {
      const labels = { identity: key.cluster, controller };
      this.#options.metrics.observe('sluice_shadow_lead_seconds', labels, leadMs / 1_000);
    }
    for (const difference of finding ?? []) {
      this.#lasting.resolved++;
      this.#options.onResolved?.(difference);
    }
  }
}

function reported(
  { key, controller, plan, since }: PendingDiff<unknown>,
  { difference, explanation }: Explained,
  cluster: ShadowedCluster,
): ReportedDifference {
  return {
    cluster: cluster.name,
    namespace: key.namespace,
    service: key.service,
    controller,
    kind: difference.kind,
    resource: difference.resource,
    lines: difference.lines,
    causes: plan.causes.first.map(({ description }) => description),
    since: new Date(since).toISOString(),
    explanation: explanation === undefined ? null : { rules: explanation.rules, why: explanation.why },
  };
}
