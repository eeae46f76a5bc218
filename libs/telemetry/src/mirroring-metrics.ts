import type { MirroringCounts, Mutation } from '@sluice/controllers';
import { exponentialBuckets } from 'prom-client';
import type { ClusterLabel } from './cluster-label.ts';
import { endpointBuckets } from './endpointslice-metrics.ts';
import type { Exposition } from './prometheus/exposition.ts';
import { type CounterVec, counterVec, type HistogramVec, histogramVec } from './prometheus/vec.ts';
import { SliceGauges } from './slice-gauges.ts';

const subsystem = 'endpoint_slice_mirroring_controller';

/** The metrics of upstream's EndpointSliceMirroring controller (section I). */
export class MirroringMetrics {
  readonly gauges: SliceGauges;
  readonly #cluster: ClusterLabel;
  readonly #added: HistogramVec;
  readonly #updated: HistogramVec;
  readonly #removed: HistogramVec;
  readonly #skipped: HistogramVec;
  readonly #duration: HistogramVec;
  readonly #changes: CounterVec;

  constructor(exposition: Exposition, cluster: ClusterLabel) {
    this.#cluster = cluster;
    this.gauges = new SliceGauges(exposition, subsystem, cluster);
    const histogram = (name: string, help: string, buckets = endpointBuckets) =>
      histogramVec(exposition, { name: `${subsystem}_${name}`, help, buckets, labelNames: cluster.names });
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
    this.#changes = counterVec(exposition, {
      name: `${subsystem}_changes`,
      help: 'Number of EndpointSlice changes',
      labelNames: [...cluster.names, 'operation'],
    });
  }

  decided(identity: string, { added, updated, removed, skipped }: MirroringCounts): void {
    const values = this.#cluster.values(identity);
    this.#added.withLabelValues(...values).observe(added);
    this.#updated.withLabelValues(...values).observe(updated);
    this.#removed.withLabelValues(...values).observe(removed);
    this.#skipped.withLabelValues(...values).observe(skipped);
  }

  written(identity: string, operation: Mutation['verb']): void {
    this.#changes.withLabelValues(...this.#cluster.values(identity), operation).inc();
  }

  /** Upstream rounds down to whole milliseconds. */
  synced(identity: string, durationMs: number): void {
    this.#duration.withLabelValues(...this.#cluster.values(identity)).observe(Math.floor(durationMs) / 1000);
  }
}
