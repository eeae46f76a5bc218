import type { Bus } from '@sluice/bus';
import type { Cluster } from '@sluice/fleet/clusters';
import type { Resource } from '@sluice/kubernetes';
import type { Clock, Logger, Random, Semaphore } from '@sluice/platform';
import type { Outage } from '@sluice/store';
import { type Metrics, watchIdleTimes } from '@sluice/telemetry';
import { ClusterWatcher, type ClusterWatcherOptions, listSemaphore, removeCluster } from '@sluice/watcher';
import { clusterCache } from './telemetry/cluster-cache.ts';

interface Watched extends Pick<Cluster, 'identity' | 'name' | 'reader'> {
  /** What this watcher watches of the cluster; other namespaces have watchers of their own. Default: everything. */
  readonly namespace?: string | undefined;
  /** How many namespaces of the cluster have a watcher. Default: it has one for everything. */
  readonly watchers?: number | undefined;
}

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
  readonly #watchers = new Map<ClusterWatcher, Watched>();
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
    const { identity, name, namespace } = cluster;
    const cache = clusterCache(metrics, identity, maxCacheBytes, cluster.watchers);
    const idleTimes = watchIdleTimes(metrics, identity, clock);
    const watcher: ClusterWatcher = new ClusterWatcher({
      ...options,
      clock,
      cluster: identity,
      fencingToken: this.#nextEpoch(),
      reader: cluster.reader,
      listBudget: cache.listBudget,
      listing: this.#listing,
      logger: logger.with({ cluster: name, ...(namespace !== undefined && { namespace }) }),
      onAvailability: (outage) => onAvailability?.(cluster, outage),
      onReset: () => this.#resyncOthers(watcher, identity),
      onProgress: idleTimes.observe,
      onMalformed: (resource) => {
        metrics?.inc('sluice_malformed_objects_total', { identity, resource });
        onMalformed?.(cluster, resource);
      },
    });
    this.#watchers.set(watcher, cluster);
    const close = () => {
      this.#watchers.delete(watcher);
      idleTimes.close();
      cache.close();
    };
    return { watcher, close };
  }

  /** Discards what the readers of the bus know of a cluster that is no longer watched. */
  removeCluster(cluster: string): Promise<void> {
    const { bus, clock } = this.#options;
    return removeCluster({ cluster, fencingToken: this.#nextEpoch(), bus, clock });
  }

  /** Makes the watchers of this cluster, by default of all, resync all Services. */
  resync(cluster?: string): void {
    for (const [watcher, { identity }] of this.#watchers)
      if (cluster === undefined || identity === cluster) watcher.resync();
  }

  /** What was discarded of a cluster includes what the watchers of its other namespaces have published. */
  #resyncOthers(restored: ClusterWatcher, cluster: string): void {
    for (const [watcher, { identity }] of this.#watchers)
      if (watcher !== restored && identity === cluster) watcher.resync();
  }

  #nextEpoch(): number {
    const now = Math.floor(this.#options.clock.now());
    this.#lastEpoch = this.#lastEpoch < this.#first ? this.#first : Math.max(this.#lastEpoch + 1, now);
    return this.#lastEpoch;
  }
}
