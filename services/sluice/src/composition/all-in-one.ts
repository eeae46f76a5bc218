import { type Bus, MemoryBus } from '@sluice/bus';
import type { Cluster } from '@sluice/clusters';
import type { WriterLimits } from '@sluice/configuration';
import type { Resource } from '@sluice/kubernetes';
import { defaultPartitions, type Outcome, type PlannedMutations } from '@sluice/messages';
import { runReconciler } from '@sluice/reconciler';
import { type Clock, type Logger, type Random, sleep } from '@sluice/runtime';
import type { Settings } from '@sluice/service-state';
import { MemoryStore } from '@sluice/store';
import type { Metrics, PartitionTopic } from '@sluice/telemetry';
import { ClusterWatcher, removeCluster } from '@sluice/watcher';
import { defaultRetry, type RetryOptions, runWriter, type WritableCluster } from '@sluice/writer';
import { drainable } from './drainable-cluster.ts';
import { partitionLag } from './telemetry/partition-lag.ts';
import { reconcilerMetrics } from './telemetry/reconciler-metrics.ts';
import type { Tracers } from './telemetry/traces/tracers.ts';
import { watchAges } from './telemetry/watch-ages.ts';
import { writable } from './writable-cluster.ts';

export interface AllInOneOptions {
  readonly clusters: readonly Cluster[];
  readonly settings: Settings;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly partitions?: number;
  /** Of all leases, since only one process owns everything here. Default: the time of the start. */
  readonly epoch?: number;
  /** Between resyncs of each watcher. */
  readonly resyncPeriodMs?: number;
  readonly retry?: RetryOptions;
  /** Of each cluster. Default: as of the flags. */
  readonly limits?: Partial<WriterLimits>;
  /** Stands between the services and the bus, for what looks on. */
  readonly tap?: (bus: Bus) => Bus;
  /** Default: nothing is counted. */
  readonly metrics?: Metrics;
  /** Default: nothing is traced. */
  readonly tracers?: Tracers | undefined;
  readonly onOutcome?: (cluster: Cluster, plan: PlannedMutations, outcome: Outcome) => void;
  readonly onWatchState?: (cluster: Cluster, resource: Resource, state: string, detail: string) => void;
  readonly onMalformed?: (cluster: Cluster, resource: Resource) => void;
  /** All lists of a cluster that came later are in. */
  readonly onSynced?: (cluster: Cluster) => void;
  /** What is not known here may still come: its plans are tried again instead of being set aside. */
  readonly mayConnect?: (identity: string) => boolean;
}

export interface AllInOne {
  /** Resolves once every cluster's lists are in. */
  readonly synced: Promise<unknown>;
  /** Serves one more cluster until `signal` aborts; resolves when nothing of it is under way any more. */
  serve(cluster: Cluster, signal: AbortSignal): Promise<void>;
  /** Removes the state of a cluster that is not served anymore from the reconcilers. */
  removeCluster(identity: string): Promise<void>;
  /** Makes every watcher tell its Services all over again. */
  resync(): void;
  /** Rejects if a service fails in a way that it cannot mend; never resolves before `stop`. */
  readonly done: Promise<unknown>;
  /** Stops watching, gives plans under way up to `graceMs` to finish, and ends. */
  stop(graceMs: number): Promise<void>;
}

/** All services in this process, on the in-process bus and store. */
export function startAllInOne(options: AllInOneOptions): AllInOne {
  const { clock, random, logger, settings } = options;
  const memory = new MemoryBus({ partitions: options.partitions ?? defaultPartitions, byReference: true });
  const bus = options.tap?.(memory) ?? memory;
  const store = new MemoryStore();
  const partitions = Array.from({ length: bus.partitions }, (_, i) => i);
  const epoch = options.epoch ?? Math.floor(clock.now());
  const watching = new AbortController();
  const working = new AbortController();
  const requests = new AbortController();
  const byIdentity = new Map<string, WritableCluster>(
    options.clusters.map((cluster) => [cluster.identity, writable(cluster, options)]),
  );
  const named = new Map(options.clusters.map((cluster) => [cluster.identity, cluster]));
  const ports = { bus, clock, random };
  const pipeline = options.metrics?.pipeline;

  const watchers = new Set<ClusterWatcher>();
  // One that watches the same cluster later has to be believed.
  let lastEpoch = epoch - 1;
  const nextEpoch = () => (lastEpoch = lastEpoch < epoch ? epoch : Math.max(lastEpoch + 1, Math.floor(clock.now())));
  const watch = (cluster: Cluster) => {
    const watcher = new ClusterWatcher({
      ...ports,
      cluster: cluster.identity,
      fencingToken: nextEpoch(),
      reader: cluster.reader,
      tracer: options.tracers?.watcher,
      ...(options.resyncPeriodMs !== undefined && { resyncPeriodMs: options.resyncPeriodMs }),
      logger: logger.with({ cluster: cluster.name }),
      onState: (resource, state, detail) => options.onWatchState?.(cluster, resource, state, detail),
      onProgress: watchAges(options.metrics, cluster.identity, clock).heard,
      onMalformed: (resource) => {
        pipeline?.malformed(cluster.identity, resource);
        options.onMalformed?.(cluster, resource);
      },
    });
    watchers.add(watcher);
    return watcher;
  };
  const watched = options.clusters.map(watch);
  const work = { ...ports, store, fencingToken: epoch, logger, partitions };
  const lag = (topic: PartitionTopic) => {
    const lags = partitions.map((partition) => partitionLag(options.metrics, ports, topic, partition));
    return (offset: number, partition: number) => lags[partition]?.reached(offset);
  };
  const running = [
    ...watched.map((watcher) => watcher.run(watching.signal)),
    runReconciler(
      {
        ...work,
        settings,
        tracer: options.tracers?.reconciler,
        ...(options.metrics && { metrics: reconcilerMetrics(options.metrics, clock) }),
        onDeadLetter: () => pipeline?.deadLettered('changes'),
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
        onDeadLetter: () => pipeline?.deadLettered('mutations'),
        onCheckpoint: lag('mutations'),
        onOutcome: (plan, outcome) => {
          pipeline?.requestsRetried(plan.key.cluster, outcome.retries);
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
      const writing = drainable(writable(cluster, options));
      byIdentity.set(identity, writing.cluster);
      named.set(identity, cluster);
      const watcher = watch(cluster);
      try {
        watcher.synced.then(
          () => options.onSynced?.(cluster),
          () => {},
        );
        await watcher.run(AbortSignal.any([signal, watching.signal]));
      } finally {
        watchers.delete(watcher);
        byIdentity.delete(identity);
        await writing.drain();
        named.delete(identity);
      }
    },
    removeCluster: (identity) => removeCluster({ cluster: identity, fencingToken: nextEpoch(), bus }),
    resync() {
      for (const watcher of watchers) watcher.resync();
    },
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
