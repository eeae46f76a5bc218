import type { EndpointSliceCounts, Hinting, Mutation } from '@sluice/controllers';
import { exponentialBuckets } from 'prom-client';
import type { ClusterLabel } from './cluster-label.ts';
import type { Exposition } from './prometheus/exposition.ts';
import { type CounterVec, counterVec, type HistogramVec, histogramVec } from './prometheus/vec.ts';
import { SliceGauges } from './slice-gauges.ts';

const subsystem = 'endpoint_slice_controller';

/** 2, 4, 8 … 32768. */
export const endpointBuckets = exponentialBuckets(2, 2, 15);

export type SyncResult = 'success' | 'error';

/** The metrics of upstream's EndpointSlice controller (section I). */
export class EndpointSliceMetrics {
  readonly gauges: SliceGauges;
  readonly #cluster: ClusterLabel;
  readonly #added: HistogramVec;
  readonly #removed: HistogramVec;
  readonly #changed: HistogramVec;
  readonly #changes: CounterVec;
  readonly #syncs: CounterVec;

  constructor(exposition: Exposition, cluster: ClusterLabel) {
    this.#cluster = cluster;
    this.gauges = new SliceGauges(exposition, subsystem, cluster);
    this.gauges.countTrafficDistribution(exposition, subsystem);
    const perSync = (name: string, help: string) =>
      histogramVec(exposition, {
        name: `${subsystem}_${name}`,
        help,
        buckets: endpointBuckets,
        labelNames: cluster.names,
      });
    this.#added = perSync('endpoints_added_per_sync', 'Number of endpoints added on each Service sync');
    this.#removed = perSync('endpoints_removed_per_sync', 'Number of endpoints removed on each Service sync');
    this.#changed = histogramVec(exposition, {
      name: `${subsystem}_endpointslices_changed_per_sync`,
      help: 'Number of EndpointSlices changed on each Service sync',
      labelNames: [...cluster.names, 'topology', 'traffic_distribution'],
    });
    this.#changes = counterVec(exposition, {
      name: `${subsystem}_changes`,
      help: 'Number of EndpointSlice changes',
      labelNames: [...cluster.names, 'operation'],
    });
    this.#syncs = counterVec(exposition, {
      name: `${subsystem}_syncs`,
      help: 'Number of EndpointSlice syncs',
      labelNames: [...cluster.names, 'result'],
    });
  }

  /** Records a decision. The sync of an address type without writes is complete; the others complete with their writes. */
  decided(identity: string, { addressTypes, service }: EndpointSliceCounts): void {
    const values = this.#cluster.values(identity);
    for (const { added, removed, changed } of addressTypes) {
      this.#added.withLabelValues(...values).observe(added);
      this.#removed.withLabelValues(...values).observe(removed);
      if (changed === 0) this.changed(identity, service.hinting, 0);
    }
  }

  /** Records that all writes of one address type succeeded. */
  changed(identity: string, hinting: Hinting | null, writes: number): void {
    const { topology = 'Disabled', trafficDistribution = '' } = hinting ?? {};
    this.#changed.withLabelValues(...this.#cluster.values(identity), topology, trafficDistribution).observe(writes);
  }

  written(identity: string, operation: Mutation['verb']): void {
    this.#changes.withLabelValues(...this.#cluster.values(identity), operation).inc();
  }

  synced(identity: string, result: SyncResult): void {
    this.#syncs.withLabelValues(...this.#cluster.values(identity), result).inc();
  }
}
