import { MemoryBus } from '@sluice/bus';
import type { ClusterState } from '@sluice/comparison';
import { type ClusterReader, chainReader } from '@sluice/kubernetes';
import { encodeMessage, parseServiceKey, type ResyncRequest, type ServiceKey } from '@sluice/messages';
import { runReconciler } from '@sluice/reconciler';
import { type Clock, type Logger, type Random, sleep } from '@sluice/runtime';
import type { Settings } from '@sluice/service-state';
import { MemoryStore } from '@sluice/store';
import type { Metrics, ShadowMetrics } from '@sluice/telemetry';
import { ClusterWatcher } from '@sluice/watcher';
import { reconcilerMetrics } from '../telemetry/reconciler-metrics.ts';
import { answerPlans } from './answer-plans.ts';
import { type Examined, type Explained, examine } from './examine.ts';
import { type Pending, ShadowLedger } from './ledger.ts';
import { observeUpstreamWrites } from './observe-upstream-writes.ts';
import type { ReportedDifference, ShadowReport } from './report.ts';
import { shadowPolicy } from './shadow-policy.ts';
import { watchDecisions } from './watch-decisions.ts';

/** A cluster that is only read. */
export interface ShadowedCluster {
  readonly name: string;
  readonly identity: string;
  readonly server: string;
  readonly version: string;
  /** Minor version of Kubernetes. */
  readonly minor: number;
  readonly reader: ClusterReader;
  /** Reads afresh what there is of one Service. */
  readonly existing: (key: ServiceKey, signal: AbortSignal) => Promise<ClusterState>;
}

export interface ShadowOptions {
  readonly clusters: readonly ShadowedCluster[];
  readonly settings: Settings;
  /** How long the genuine controllers may take before a disagreement counts as a difference, in milliseconds. */
  readonly settleMs: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly onDifference?: (difference: ReportedDifference) => void;
  /** What had been reported is no more. */
  readonly onResolved?: (difference: ReportedDifference) => void;
}

export interface Shadow {
  /** Resolves once every cluster's lists are in. */
  readonly synced: Promise<unknown>;
  /** Rejects if something fails for good; never resolves before `stop`. */
  readonly done: Promise<unknown>;
  report(): ShadowReport;
  stop(): Promise<void>;
}

/** Between looks at what has been pending for long, in milliseconds. */
const lookEveryMs = 500;
/** How long the answer to a request to tell a Service again may take. */
const tellAgainMs = 2_000;
/** After which a difference that stays is looked at once more. */
const lookAgainMs = 30_000;
const looksAtOnce = 8;

/**
 * Watcher and reconciler as in a run that writes, and no writer: a plan is compared with what the cluster's own
 * controllers do.
 */
export function startShadow(options: ShadowOptions): Shadow {
  return new RunningShadow(options);
}

class RunningShadow implements Shadow {
  readonly synced: Promise<unknown>;
  readonly done: Promise<unknown>;
  readonly #options: ShadowOptions;
  readonly #ledger: ShadowLedger<readonly ReportedDifference[]>;
  readonly #clusters: ReadonlyMap<string, ShadowedCluster>;
  readonly #bus = new MemoryBus({ partitions: 16 });
  readonly #working = new AbortController();
  readonly #startedAt: number;
  readonly #lasting = { explained: 0, unexplained: 0, resolved: 0 };
  readonly #looking = new Set<Pending<readonly ReportedDifference[]>>();
  readonly #metrics: ShadowMetrics;
  #malformed = 0;
  #asked = 0;

  constructor(options: ShadowOptions) {
    this.#options = options;
    const { clock, random, settings, metrics } = options;
    this.#startedAt = clock.now();
    this.#metrics = metrics.openShadow(() => this.report().services);
    this.#clusters = new Map(options.clusters.map((cluster) => [cluster.identity, cluster]));
    this.#ledger = new ShadowLedger((pending, leadMs) => this.#resolved(pending, leadMs));
    const { signal } = this.#working;
    const bus = this.#bus;
    const epoch = Math.floor(clock.now());
    const watchers = options.clusters.map((cluster) => this.#watcher(cluster, epoch));
    const reconciler = runReconciler(
      {
        ...{ bus, clock, random, epoch, logger: options.logger, store: new MemoryStore() },
        partitions: Array.from({ length: bus.partitions }, (_, partition) => partition),
        settings: { ...settings, policy: shadowPolicy(settings.policy, this.#ledger, () => clock.now()) },
        metrics: watchDecisions(reconcilerMetrics(metrics, clock), (key, controller, decided) => {
          if (decided) this.#ledger.decided(parseServiceKey(key), controller, decided.plan, clock.now());
        }),
      },
      signal,
    );
    this.synced = Promise.all(watchers.map(({ synced }) => synced));
    this.done = Promise.all([
      ...watchers.map((watcher) => watcher.run(signal)),
      reconciler,
      answerPlans(bus, clock, signal),
      this.#look(signal),
    ]);
  }

  async stop(): Promise<void> {
    this.#working.abort();
    await this.#bus.close();
    await Promise.allSettled([this.done]);
  }

  report(): ShadowReport {
    const ledger = this.#ledger;
    const stands = new Map<string, 'waiting' | 'explained' | 'unexplained'>();
    const differences: ReportedDifference[] = [];
    for (const { key, finding } of ledger.pending) {
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
        ...{ name, identity, server, version },
      })),
      services: {
        total: ledger.services,
        agree: Math.max(0, ledger.services - stands.size),
        waiting: count('waiting'),
        explained: count('explained'),
        unexplained: count('unexplained'),
      },
      decisions: ledger.decisions,
      writes: ledger.writes,
      sooner: ledger.sooner.percentiles,
      later: ledger.later.percentiles,
      withdrawn: ledger.withdrawn,
      lasting: { ...this.#lasting },
      malformed: this.#malformed,
      differences,
    };
  }

  #watcher(cluster: ShadowedCluster, epoch: number): ClusterWatcher {
    const { clock, random, logger, metrics } = this.#options;
    const observer = observeUpstreamWrites(cluster.identity, (key, controller) => {
      this.#ledger.wrote(key, controller, clock.now());
    });
    const reader = chainReader(cluster.reader, observer);
    return new ClusterWatcher({
      ...{ cluster: cluster.identity, epoch, reader, bus: this.#bus, clock, random },
      logger: logger.with({ cluster: cluster.name }),
      onMalformed: (resource) => {
        this.#malformed++;
        metrics.pipeline.malformed(cluster.identity, resource);
      },
    });
  }

  /** Looks from time to time at what the genuine controllers should have come to by now. */
  async #look(signal: AbortSignal): Promise<void> {
    const { clock, settleMs, logger } = this.#options;
    while (!signal.aborted) {
      await sleep(clock, lookEveryMs, signal);
      this.#ledger.prune();
      const now = clock.now();
      for (const pending of this.#ledger.pending) {
        if (now - pending.since < settleMs || this.#looking.has(pending)) continue;
        if (pending.askedAt === null) {
          pending.askedAt = now;
          await this.#tellAgain(pending);
        } else if (now - pending.askedAt >= (pending.finding === null ? tellAgainMs : lookAgainMs)) {
          if (this.#looking.size >= looksAtOnce) continue;
          this.#looking.add(pending);
          this.#examine(pending, signal)
            .catch((error: unknown) => logger.warn('a difference cannot be looked at', { error }))
            .finally(() => this.#looking.delete(pending));
        }
      }
    }
  }

  /** Decided once more on a fresh snapshot, it may turn out to be none. */
  async #tellAgain({ key }: Pending<unknown>): Promise<void> {
    const reason = 'a difference is looked at';
    const request: ResyncRequest = { kind: 'resync', scope: { key }, reason };
    const record = { key: '', id: `shadow/${++this.#asked}`, headers: {}, payload: encodeMessage(request) };
    await this.#bus.append('requests', 0, [record]);
  }

  async #examine(pending: Pending<readonly ReportedDifference[]>, signal: AbortSignal): Promise<void> {
    const { settings, clock } = this.#options;
    const cluster = this.#clusters.get(pending.key.cluster);
    if (cluster === undefined) return;
    const state = await cluster.existing(pending.key, signal);
    const { overlooked, plan } = pending;
    const { maxEndpointsPerSlice } = settings;
    this.#note(pending, examine(state, plan, { overlooked, maxEndpointsPerSlice, minor: cluster.minor }), cluster);
    pending.askedAt = clock.now();
  }

  #note(pending: Pending<readonly ReportedDifference[]>, examined: Examined, cluster: ShadowedCluster): void {
    if (examined === 'passed') return;
    if (examined === 'equal') return this.#ledger.settle(pending);
    const isNew = pending.finding === null;
    pending.finding = examined.map((found) => reported(pending, found, cluster));
    if (!isNew) return;
    for (const difference of pending.finding) {
      this.#lasting[difference.explanation === null ? 'unexplained' : 'explained']++;
      this.#metrics.differs(pending.key.cluster, difference.explanation !== null);
      this.#options.onDifference?.(difference);
    }
  }

  #resolved({ key, controller, finding }: Pending<readonly ReportedDifference[]>, leadMs: number | null): void {
    if (leadMs !== null) this.#metrics.sooner(key.cluster, controller, leadMs);
    for (const difference of finding ?? []) {
      this.#lasting.resolved++;
      this.#options.onResolved?.(difference);
    }
  }
}

function reported(
  { key, controller, plan, since }: Pending<unknown>,
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
