import type { Cluster } from '@sluice/fleet/clusters';
import { type RoleOptions, ServedShare } from '@sluice/fleet/roles';
import type { Logger } from '@sluice/platform';
import type { Outage } from '@sluice/store';
import { watchIdleTimes } from '@sluice/telemetry';
import { ClusterWatcher, type ClusterWatcherOptions, FalseAlarms, Prefetch, removeCluster } from '@sluice/watcher';
import { clusterCache } from '../telemetry/cluster-cache.ts';

export interface WatcherRoleOptions
  extends RoleOptions,
    Pick<
      ClusterWatcherOptions,
      | 'compaction'
      | 'digestPeriodMs'
      | 'digestQuietPeriodMs'
      | 'listing'
      | 'resyncPeriodMs'
      | 'onState'
      | 'onAvailability'
      | 'onMalformed'
    > {
  /** The clusters of this process; one for all of them. */
  readonly share: ServedShare;
  /** Version and server are shown to users, if known. */
  readonly cluster: Pick<Cluster, 'name' | 'identity' | 'reader' | 'server'> & {
    readonly version?: string;
    readonly source?: string;
  };
  /** Shared by all clusters of the process. Default: this cluster has its own. */
  readonly falseAlarms?: FalseAlarms;
  /** Maximum memory for the objects of the cluster. Default: half of the heap. */
  readonly maxCacheBytes?: number | undefined;
  /** Called when this process starts to watch the cluster, and when it stops. */
  readonly onWatching?: (watching: boolean) => void;
}

/**
 * Interval of digest comparisons of recently changed Services, in milliseconds. It bounds how long the loss of the last
 * Change of a partition stays unnoticed; all Services are compared within sixty times this interval.
 */
const digestPeriodMs = 60_000;

/**
 * How long a process that hands over clusters waits until another one has read and acquired them, in milliseconds: until then
 * it watches them, and continues with the next ones afterwards. A hand-over takes sixteen times that at most, so that it ends while the process shuts down.
 */
const handoverMs = 1_000;

/** The share of a process in watching the clusters of the fleet. It takes part for those that it is configured with. */
export function watcherShare(options: RoleOptions): ServedShare {
  return new ServedShare(options, { role: 'watcher', group: 'watcher', handoverMs });
}

/**
 * Watches one cluster, or stands by while another process does. If `served` aborts with the reason `removed`, the process
 * that watches the cluster removes its state from the fleet.
 */
export async function runWatcherRole(options: WatcherRoleOptions, served: AbortSignal): Promise<void> {
  const { cluster, share } = options;
  const logger = options.logger.with({ cluster: cluster.name });
  const { clock, listing, falseAlarms = new FalseAlarms(clock) } = options;
  const prefetch = new Prefetch({ reader: cluster.reader, clock, listing, falseAlarms });
  const running = share.serve(
    cluster.identity,
    {
      name: cluster.name,
      prepare: () => prefetch.start(),
      work: async ({ fencingToken, signal, started, isCurrent }, store) => {
        const { identity } = cluster;
        const reader = prefetch.reader(signal);
        // In order, so that the last state is the one that stays.
        let published = Promise.resolve();
        const publish = (outage: Outage | null) => {
          published = published.then(() => publishCluster(options, logger, outage));
        };
        const idleTimes = watchIdleTimes(options.metrics, identity, options.clock);
        const cache = clusterCache(options.metrics, identity, options.maxCacheBytes);
        const watched = {
          cluster: identity,
          fencingToken,
          reader,
          store,
          listBudget: cache.listBudget,
          onProgress: idleTimes.observe,
        };
        const onAvailability = (outage: Outage | null) => {
          options.onAvailability?.(outage);
          publish(outage);
        };
        const watcher = new ClusterWatcher({ digestPeriodMs, ...options, logger, ...watched, onAvailability });
        logger.info('watching cluster', { fencingToken });
        const cacheHealth = options.health?.watching(cluster.name);
        void watcher.synced.then(() => {
          cacheHealth?.synced();
          started();
        });
        publish(null);
        options.onWatching?.(true);
        try {
          await watcher.run(signal);
        } finally {
          cacheHealth?.ended();
          idleTimes.close();
          cache.close();
          options.onAvailability?.(null);
          options.onWatching?.(false);
        }
        if (served.reason !== 'removed') return;
        await removeCluster({ ...options, cluster: identity, fencingToken });
        await published;
        // The next watcher has listed the cluster again.
        if (isCurrent()) await options.directory?.remove(identity);
      },
    },
    served,
  );
  await running.finally(() => prefetch.close());
}

/** Publishes the cluster's name and outage for the console. Failure does not affect the work. */
async function publishCluster(
  { directory, cluster }: WatcherRoleOptions,
  logger: Logger,
  outage: Outage | null,
): Promise<void> {
  const { identity, name, version = '', server = '', source } = cluster;
  try {
    const known = { identity, name, version, server, ...(source !== undefined && { source }) };
    await directory?.put({ ...known, ...(outage !== null && { outage }) });
  } catch (error) {
    logger.warn('cannot publish the name of the cluster', { error });
  }
}
