import type { EndpointSliceCounts, Hinting, Mutation } from '@sluice/controllers';
import { exponentialBuckets } from 'prom-client';
import type { ClusterLabel } from './cluster-label.ts';
import { Counter } from './prometheus/counter.ts';
import type { Exposition } from './prometheus/exposition.ts';
import { Histogram } from './prometheus/histogram.ts';
import { SliceGauges } from './slice-gauges.ts';

const subsystem = 'endpoint_slice_controller';

/** 2, 4, 8 … 32768. */
export const endpointBuckets = exponentialBuckets(2, 2, 15);

export type SyncResult = 'success' | 'error';

/** The metrics of upstream's EndpointSlice controller (section I). */
export class EndpointSliceMetrics {
  readonly gauges: SliceGauges;
  readonly #cluster: ClusterLabel;
  readonly #added: Histogram;
  readonly #removed: Histogram;
  readonly #changed: Histogram;
  readonly #changes: Counter;
  readonly #syncs: Counter;

  constructor(exposition: Exposition, cluster: ClusterLabel) {
    this.#cluster = cluster;
    this.gauges = new SliceGauges(exposition, subsystem, cluster);
    this.gauges.countTrafficDistribution(exposition, subsystem);
    const perSync = (name: string, help: string) =>
      new Histogram(exposition, {
        name: `${subsystem}_${name}`,
        help,
        buckets: endpointBuckets,
        labelNames: cluster.names,
      });
    this.#added = perSync('endpoints_added_per_sync', 'Number of endpoints added on each Service sync');
    this.#removed = perSync('endpoints_removed_per_sync', 'Number of endpoints removed on each Service sync');
    this.#changed = new Histogram(exposition, {
      name: `${subsystem}_endpointslices_changed_per_sync`,
      help: 'Number of EndpointSlices changed on each Service sync',
      labelNames: [...cluster.names, 'topology', 'traffic_distribution'],
    });
    this.#changes = new Counter(exposition, {
      name: `${subsystem}_changes`,
      help: 'Number of EndpointSlice changes',
      labelNames: [...cluster.names, 'operation'],
    });
    this.#syncs = new Counter(exposition, {
      name: `${subsystem}_syncs`,
      help: 'Number of EndpointSlice syncs',
      labelNames: [...cluster.names, 'result'],
    });
  }

  /** Records a decision. The sync of an address type without writes is complete; the others complete with their writes. */
  decided(identity: string, { addressTypes, service }: EndpointSliceCounts): void {
    const labels = this.#cluster.labels(identity);
    for (const { added, removed, changed } of addressTypes) {
      this.#added.observe(labels, added);
      this.#removed.observe(labels, removed);
      if (changed === 0) this.changed(identity, service.hinting, 0);
    }
  }

  /** Records that all writes of one address type succeeded. */
  changed(identity: string, hinting: Hinting | null, writes: number): void {
    const { topology = 'Disabled', trafficDistribution = '' } = hinting ?? {};
    const labels = { ...this.#cluster.labels(identity), topology, traffic_distribution: trafficDistribution };
    this.#changed.observe(labels, writes);
  }

  written(identity: string, operation: Mutation['verb']): void {
    this.#changes.inc({ ...this.#cluster.labels(identity), operation });
  }

  synced(identity: string, result: SyncResult): void {
    this.#syncs.inc({ ...this.#cluster.labels(identity), result });
  }
}
