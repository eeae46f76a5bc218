import type { Bus } from '@sluice/bus';
import type { Cluster } from '@sluice/fleet/clusters';
import type { Resource } from '@sluice/kubernetes';
import type { ServiceKey } from '@sluice/messages';
import type { Clock, Logger, Random, Semaphore } from '@sluice/platform';
import type { Outage } from '@sluice/store';
import { type Metrics, watchIdleTimes } from '@sluice/telemetry';
import { ClusterWatcher, type ClusterWatcherOptions, listSemaphore, removeCluster } from '@sluice/watcher';
import { clusterCache } from './telemetry/cluster-cache.ts';

type Watched = Pick<Cluster, 'identity' | 'name' | 'reader'>;

export interface ClusterWatchersOptions<C extends Watched>
  extends Pick<ClusterWatcherOptions, 'tracer' | 'compaction' | 'publishAfter' | 'resyncPeriodMs' | 'recordEachEvent'> {
  readonly bus: Bus;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Fencing token of the first watcher. Default: the start time. */
  readonly epoch?: number | undefined;
  /** Maximum memory for the objects of each cluster. Default: half of the heap. */
  readonly maxCacheBytes?: number | undefined;
  /** Default: no metrics. */
  readonly metrics?: Metrics | undefined;
  readonly onAvailability?: ((cluster: C, outage: Outage | null) => void) | undefined;
  readonly onMalformed?: ((cluster: C, resource: Resource) => void) | undefined;
}

/** The watchers of a process that alone watches its clusters and keeps nothing about them. */
export class ClusterWatchers<C extends Watched> {
  readonly #options: ClusterWatchersOptions<C>;
  /** By watcher, the identity of its cluster. */
  readonly #watchers = new Map<ClusterWatcher, string>();
  readonly #listing: Semaphore;
  readonly #first: number;
  #lastEpoch: number;

  constructor(options: ClusterWatchersOptions<C>) {
    this.#options = options;
    this.#listing = listSemaphore(options.clock);
    this.#first = options.epoch ?? Math.floor(options.clock.now());
    this.#lastEpoch = this.#first - 1;
  }

  /** A watcher of the cluster that supersedes earlier ones. Call `close` when it has ended. */
  create(cluster: C): { readonly watcher: ClusterWatcher; readonly close: () => void } {
    const { metrics, clock, onAvailability, onMalformed, maxCacheBytes, logger, ...options } = this.#options;
    const { identity } = cluster;
    const cache = clusterCache(metrics, identity, maxCacheBytes);
    const watcher = new ClusterWatcher({
      ...options,
      clock,
      cluster: identity,
      fencingToken: this.#nextEpoch(),
      reader: cluster.reader,
      listBudget: cache.listBudget,
      listing: this.#listing,
      logger: logger.with({ cluster: cluster.name }),
      onAvailability: (outage) => onAvailability?.(cluster, outage),
      onProgress: watchIdleTimes(metrics, identity, clock).observe,
      onMalformed: (resource) => {
        metrics?.inc('sluice_malformed_objects_total', { identity, resource });
        onMalformed?.(cluster, resource);
      },
    });
    this.#watchers.set(watcher, identity);
    const close = () => {
      this.#watchers.delete(watcher);
      cache.close();
    };
    return { watcher, close };
  }

  /** Discards what the readers of the bus know of a cluster that is no longer watched. */
  removeCluster(cluster: string): Promise<void> {
    const { bus, clock } = this.#options;
    return removeCluster({ cluster, fencingToken: this.#nextEpoch(), bus, clock });
  }

  /** Makes every watcher resync all Services. */
  resync(): void {
    for (const watcher of this.#watchers.keys()) watcher.resync();
  }

  /** Publishes a snapshot of a Service. */
  resyncService(key: ServiceKey): void {
    for (const [watcher, cluster] of this.#watchers) if (cluster === key.cluster) watcher.resync(key);
  }

  #nextEpoch(): number {
    const now = Math.floor(this.#options.clock.now());
    this.#lastEpoch = this.#lastEpoch < this.#first ? this.#first : Math.max(this.#lastEpoch + 1, now);
    return this.#lastEpoch;
  }
}
