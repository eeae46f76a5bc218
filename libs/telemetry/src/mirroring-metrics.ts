import type { MirroringCounts, Mutation } from '@sluice/controllers';
import { Counter, exponentialBuckets, Histogram, type Registry } from 'prom-client';
import type { ClusterLabel } from './cluster-label.ts';
import { endpointBuckets } from './endpointslice-metrics.ts';
import { SliceGauges } from './slice-gauges.ts';

const subsystem = 'endpoint_slice_mirroring_controller';

/** The metrics of upstream's EndpointSliceMirroring controller, under its names (section I). */
export class MirroringMetrics {
  readonly gauges: SliceGauges;
  readonly #cluster: ClusterLabel;
  readonly #added: Histogram;
  readonly #updated: Histogram;
  readonly #removed: Histogram;
  readonly #skipped: Histogram;
  readonly #duration: Histogram;
  readonly #changes: Counter;

  constructor(registry: Registry, cluster: ClusterLabel) {
    this.#cluster = cluster;
    this.gauges = new SliceGauges(registry, subsystem, cluster);
    const registers = [registry];
    const histogram = (name: string, help: string, buckets = endpointBuckets) =>
      new Histogram({ name: `${subsystem}_${name}`, help, buckets, labelNames: cluster.names, registers });
    this.#added = histogram('endpoints_added_per_sync', 'Number of endpoints added on each Endpoints sync');
    this.#updated = histogram('endpoints_updated_per_sync', 'Number of endpoints updated on each Endpoints sync');
    this.#removed = histogram('endpoints_removed_per_sync', 'Number of endpoints removed on each Endpoints sync');
    this.#skipped = histogram(
      'addresses_skipped_per_sync',
      'Number of addresses skipped on each Endpoints sync due to being invalid or exceeding MaxEndpointsPerSubset',
    );
    this.#duration = histogram(
      'endpoints_sync_duration',
      'Duration of syncEndpoints() in seconds',
      exponentialBuckets(0.001, 2, 15),
    );
    this.#changes = new Counter({
      name: `${subsystem}_changes`,
      help: 'Number of EndpointSlice changes',
      labelNames: [...cluster.names, 'operation'],
      registers,
    });
  }

  decided(identity: string, { added, updated, removed, skipped }: MirroringCounts): void {
    const labels = this.#cluster.of(identity);
    this.#added.observe(labels, added);
    this.#updated.observe(labels, updated);
    this.#removed.observe(labels, removed);
    this.#skipped.observe(labels, skipped);
  }

  written(identity: string, operation: Mutation['verb']): void {
    this.#changes.inc({ ...this.#cluster.of(identity), operation });
  }

  /** Upstream measures whole milliseconds. */
  synced(identity: string, durationMs: number): void {
    this.#duration.observe(this.#cluster.of(identity), Math.floor(durationMs) / 1000);
  }
}
