import type { ClusterLabel } from './cluster-label.ts';
import type { Exposition } from './prometheus/exposition.ts';
import { observableGauge } from './prometheus/metrics.ts';

/** What a watcher keeps of the objects of one cluster. */
export interface CacheReadings {
  readonly maxBytes: number;
  /** By resource. */
  readonly bytes: ReadonlyMap<string, number>;
}

/** Size and limit of the informer cache of each watched cluster. */
export class CacheMetrics {
  readonly #caches = new Map<string, CacheReadings>();

  constructor(exposition: Exposition, cluster: ClusterLabel) {
    const size = {
      name: 'sluice_informer_cache_bytes',
      help: 'Estimated memory of the objects that a watcher keeps',
      labelNames: [...cluster.names, 'resource'],
    };
    observableGauge(exposition, size, (report) => {
      for (const [identity, { bytes }] of this.#caches) {
        for (const [resource, value] of bytes) report(value, { ...cluster.labels(identity), resource });
      }
    });
    const limit = {
      name: 'sluice_informer_cache_limit_bytes',
      help: 'Maximum memory for the objects of a cluster; a list or watch beyond it fails',
      labelNames: cluster.names,
    };
    observableGauge(exposition, limit, (report) => {
      for (const [identity, { maxBytes }] of this.#caches) report(maxBytes, cluster.labels(identity));
    });
  }

  /** Exposes the cache of a cluster until the returned function is called. */
  show(identity: string, readings: CacheReadings): () => void {
    this.#caches.set(identity, readings);
    return () => {
      if (this.#caches.get(identity) === readings) this.#caches.delete(identity);
    };
  }
}
