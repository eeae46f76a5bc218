import type { EndpointSliceCounts, Hinting, Mutation } from '@sluice/controllers';
import { Counter, exponentialBuckets, Histogram, type Registry } from 'prom-client';
import type { ClusterLabel } from './cluster-label.ts';
import { SliceGauges } from './slice-gauges.ts';

const subsystem = 'endpoint_slice_controller';

/** 2, 4, 8 … 32768. */
export const endpointBuckets = exponentialBuckets(2, 2, 15);

export type SyncResult = 'success' | 'error';

/** The metrics of upstream's EndpointSlice controller, under its names (section I). */
export class EndpointSliceMetrics {
  readonly gauges: SliceGauges;
  readonly #cluster: ClusterLabel;
  readonly #added: Histogram;
  readonly #removed: Histogram;
  readonly #changed: Histogram;
  readonly #changes: Counter;
  readonly #syncs: Counter;

  constructor(registry: Registry, cluster: ClusterLabel) {
    this.#cluster = cluster;
    this.gauges = new SliceGauges(registry, subsystem, cluster);
    this.gauges.countTrafficDistribution(registry, subsystem);
    const registers = [registry];
    const perSync = (name: string, help: string) =>
      new Histogram({
        name: `${subsystem}_${name}`,
        help,
        buckets: endpointBuckets,
        labelNames: cluster.names,
        registers,
      });
    this.#added = perSync('endpoints_added_per_sync', 'Number of endpoints added on each Service sync');
    this.#removed = perSync('endpoints_removed_per_sync', 'Number of endpoints removed on each Service sync');
    this.#changed = new Histogram({
      name: `${subsystem}_endpointslices_changed_per_sync`,
      help: 'Number of EndpointSlices changed on each Service sync',
      labelNames: [...cluster.names, 'topology', 'traffic_distribution'],
      registers,
    });
    this.#changes = new Counter({
      name: `${subsystem}_changes`,
      help: 'Number of EndpointSlice changes',
      labelNames: [...cluster.names, 'operation'],
      registers,
    });
    this.#syncs = new Counter({
      name: `${subsystem}_syncs`,
      help: 'Number of EndpointSlice syncs',
      labelNames: [...cluster.names, 'result'],
      registers,
    });
  }

  /** Address types that need no write are through with their sync; the others when their writes are. */
  decided(identity: string, { addressTypes, service }: EndpointSliceCounts): void {
    const labels = this.#cluster.of(identity);
    for (const { added, removed, changed } of addressTypes) {
      this.#added.observe(labels, added);
      this.#removed.observe(labels, removed);
      if (changed === 0) this.changed(identity, service.hinting, 0);
    }
  }

  /** All writes of one address type have succeeded. */
  changed(identity: string, hinting: Hinting | null, writes: number): void {
    const { topology = 'Disabled', trafficDistribution = '' } = hinting ?? {};
    const labels = { ...this.#cluster.of(identity), topology, traffic_distribution: trafficDistribution };
    this.#changed.observe(labels, writes);
  }

  written(identity: string, operation: Mutation['verb']): void {
    this.#changes.inc({ ...this.#cluster.of(identity), operation });
  }

  synced(identity: string, result: SyncResult): void {
    this.#syncs.inc({ ...this.#cluster.of(identity), result });
  }
}
