import { type Bus, MemoryBus } from '@sluice/bus';
import { findParked, type ParkedKey } from '@sluice/console';
import type { Cluster } from '@sluice/fleet/clusters';
import type { WriterLimits } from '@sluice/fleet/configuration';
import type { Resource } from '@sluice/kubernetes';
import type { Outcome, PlannedMutations } from '@sluice/messages';
import { type Clock, type Logger, type Random, sleep } from '@sluice/platform';
import { reconcilerMetrics, runReconciler } from '@sluice/reconciler';
import type { Settings } from '@sluice/service-state';
import { MemoryStore, type Outage } from '@sluice/store';
import { type Metrics, type PartitionTopic, partitionLag } from '@sluice/telemetry';
import type { ClusterWatcherOptions } from '@sluice/watcher';
import { defaultRetry, drainable, type RetryOptions, runWriter, type WritableCluster } from '@sluice/writer';
import { ClusterWatchers } from './cluster-watchers.ts';
import type { Tracers } from './telemetry/start-tracing.ts';
import { countRetries, requestShares, writable } from './writable-cluster.ts';

export interface AllInOneOptions {
  readonly clusters: readonly Cluster[];
  readonly settings: Settings;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly partitions?: number;
  /** What was done is committed at multiples of this interval, in milliseconds. Default: a second. */
  readonly commitIntervalMs?: number;
  /** Fencing token of all leases, because only one process owns everything here. Default: the start time. */
  readonly epoch?: number;
  /** Nothing is decided or written before this resolves. Default: once the caches are synced. */
  readonly startAfter?: Promise<unknown> | undefined;
  /** Interval between resyncs of each watcher, in milliseconds. */
  readonly resyncPeriodMs?: number;
  /** Default: slices are not compacted in the background. */
  readonly compaction?: ClusterWatcherOptions['compaction'];
  /** Maximum memory for the objects of each cluster. Default: half of the heap. */
  readonly maxCacheBytes?: number | undefined;
  readonly retry?: RetryOptions;
  /** Limits per cluster. Default: those of the flags. */
  readonly limits?: Partial<WriterLimits>;
  /** Wraps the bus of the services, for observers such as the console. */
  readonly tap?: (bus: Bus) => Bus;
  /** Default: no metrics. */
  readonly metrics?: Metrics;
  /** Default: no tracing. */
  readonly tracers?: Tracers | undefined;
  readonly onOutcome?: (cluster: Cluster, plan: PlannedMutations, outcome: Outcome) => void;
  /** Called when a conflict shows that kube-controller-manager writes the same objects. */
  readonly onCompetingController?: (cluster: Cluster, manager: string) => void;
  readonly onAvailability?: (cluster: Cluster, outage: Outage | null) => void;
  readonly onMalformed?: (cluster: Cluster, resource: Resource) => void;
  /** Called once the caches of a cluster that was added later are synced. */
  readonly onSynced?: (cluster: Cluster) => void;
  /** Whether an unknown cluster may still connect: its plans are then retried instead of being dead-lettered. */
  readonly mayConnect?: (identity: string) => boolean;
}

export interface AllInOne {
  /** Resolves once the caches of all initial clusters are synced. */
  readonly synced: Promise<unknown>;
  /** Serves another cluster until `signal` aborts and its work in progress is done. */
  serve(cluster: Cluster, signal: AbortSignal): Promise<void>;
  /** Removes the state of a cluster that is no longer served. */
  removeCluster(identity: string): Promise<void>;
  /** Services whose writes the API server refuses. */
  parked(): Promise<readonly ParkedKey[]>;
  /** Makes the watchers of this cluster, by default of all, resync all Services, also those that are parked. */
  resync(cluster?: string): void;
  /** Rejects on a fatal error; never resolves before `stop`. */
  readonly done: Promise<unknown>;
  /** Stops watching, waits up to `graceMs` for plans in progress, and stops. */
  stop(graceMs: number): Promise<void>;
}

/** Partitions of the bus in memory, where they cost nothing. Records of a partition are handled one after the other. */
const partitionsInMemory = 64;
/** What has been committed is read only for the list of parked Services. All partitions commit at the same moment. */
const defaultCommitIntervalMs = 1_000;

/** Runs all services in this process, on the in-process bus and store. */
export function startAllInOne(options: AllInOneOptions): AllInOne {
  const { clock, random, logger, settings } = options;
  const memory = new MemoryBus({ partitions: options.partitions ?? partitionsInMemory, byReference: true });
  const bus = options.tap?.(memory) ?? memory;
  const store = new MemoryStore();
  const partitions = Array.from({ length: bus.partitions }, (_, i) => i);
  const epoch = options.epoch ?? Math.floor(clock.now());
  const watching = new AbortController();
  const working = new AbortController();
  const requests = new AbortController();
  const writing = { ...options, fairShare: requestShares(options.limits) };
  const byIdentity = new Map<string, WritableCluster>(
    options.clusters.map((cluster) => [cluster.identity, writable(cluster, writing)]),
  );
  const named = new Map(options.clusters.map((cluster) => [cluster.identity, cluster]));
  const ports = { bus, clock, random };

  const watchers = new ClusterWatchers<Cluster>({
    ...options,
    bus,
    epoch,
    tracer: options.tracers?.watcher,
    publishAfter: options.startAfter,
  });
  const watched = options.clusters.map((cluster) => watchers.create(cluster).watcher);
  const { commitIntervalMs = defaultCommitIntervalMs } = options;
  const work = { ...ports, store, fencingToken: epoch, logger, partitions, commitIntervalMs };
  const lag = (topic: PartitionTopic) => {
    const lags = partitions.map((partition) => partitionLag(options.metrics, ports, topic, partition));
    return (offset: number, partition: number) => lags[partition]?.reached(offset);
  };
  const running = [
    ...watched.map((watcher) => watcher.run(watching.signal)),
    runReconciler(
      {
        ...work,
        isVolatile: true,
        settings,
        tracer: options.tracers?.reconciler,
        ...(options.metrics && { metrics: reconcilerMetrics(options.metrics, clock) }),
        onDeadLetter: () => options.metrics?.inc('sluice_dead_letters_total', { topic: 'changes' }),
        onCheckpoint: lag('changes'),
      },
      working.signal,
    ),
    runWriter(
      {
        ...work,
        cluster: (identity) => byIdentity.get(identity) ?? (options.mayConnect?.(identity) ? 'connecting' : undefined),
        retry: options.retry ?? defaultRetry,
        tracer: options.tracers?.writer,
        requestSignal: requests.signal,
        onDeadLetter: () => options.metrics?.inc('sluice_dead_letters_total', { topic: 'mutations' }),
        onCheckpoint: lag('mutations'),
        onOutcome: (plan, outcome) => {
          countRetries(options.metrics, plan.key.cluster, outcome.retries);
          const cluster = named.get(plan.key.cluster);
          if (cluster !== undefined) options.onOutcome?.(cluster, plan, outcome);
        },
      },
      working.signal,
    ),
  ];
  return {
    synced: Promise.all(watched.map((watcher) => watcher.synced)),
    done: Promise.all(running),
    async serve(cluster, signal) {
      const { identity } = cluster;
      const { cluster: written, drain } = drainable(writable(cluster, writing));
      byIdentity.set(identity, written);
      named.set(identity, cluster);
      const { watcher, close } = watchers.create(cluster);
      try {
        watcher.synced.then(
          () => options.onSynced?.(cluster),
          () => {},
        );
        await watcher.run(AbortSignal.any([signal, watching.signal]));
      } finally {
        close();
        byIdentity.delete(identity);
        await drain();
        named.delete(identity);
      }
    },
    removeCluster: (identity) => watchers.removeCluster(identity),
    parked: () => findParked(store, bus.partitions),
    resync: (cluster) => watchers.resync(cluster),
    async stop(graceMs) {
      watching.abort();
      working.abort();
      const grace = new AbortController();
      const ended = Promise.allSettled(running).then(() => grace.abort());
      await sleep(clock, graceMs, grace.signal);
      requests.abort();
      await bus.close();
      await ended;
    },
  };
}
