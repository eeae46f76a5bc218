import type { MirroringCounts, Mutation } from '@sluice/controllers';
import { exponentialBuckets } from 'prom-client';
import type { ClusterLabel } from './cluster-label.ts';
import { endpointBuckets } from './endpointslice-metrics.ts';
import { Counter } from './prometheus/counter.ts';
import type { Exposition } from './prometheus/exposition.ts';
import { Histogram } from './prometheus/histogram.ts';
import { SliceGauges } from './slice-gauges.ts';

const subsystem = 'endpoint_slice_mirroring_controller';

/** The metrics of upstream's EndpointSliceMirroring controller (section I). */
export class MirroringMetrics {
  readonly gauges: SliceGauges;
  readonly #cluster: ClusterLabel;
  readonly #added: Histogram;
  readonly #updated: Histogram;
  readonly #removed: Histogram;
  readonly #skipped: Histogram;
  readonly #duration: Histogram;
  readonly #changes: Counter;

  constructor(exposition: Exposition, cluster: ClusterLabel) {
    this.#cluster = cluster;
    this.gauges = new SliceGauges(exposition, subsystem, cluster);
    const perSync = (name: string, help: string, buckets = endpointBuckets) =>
      new Histogram(exposition, { name: `${subsystem}_${name}`, help, buckets, labelNames: cluster.names });
    this.#added = perSync('endpoints_added_per_sync', 'Number of endpoints added on each Endpoints sync');
    this.#updated = perSync('endpoints_updated_per_sync', 'Number of endpoints updated on each Endpoints sync');
    this.#removed = perSync('endpoints_removed_per_sync', 'Number of endpoints removed on each Endpoints sync');
    this.#skipped = perSync(
      'addresses_skipped_per_sync',
      'Number of addresses skipped on each Endpoints sync due to being invalid or exceeding MaxEndpointsPerSubset',
    );
    this.#duration = perSync(
      'endpoints_sync_duration',
      'Duration of syncEndpoints() in seconds',
      exponentialBuckets(0.001, 2, 15),
    );
    this.#changes = new Counter(exposition, {
      name: `${subsystem}_changes`,
      help: 'Number of EndpointSlice changes',
      labelNames: [...cluster.names, 'operation'],
    });
  }

  decided(identity: string, { added, updated, removed, skipped }: MirroringCounts): void {
    const labels = this.#cluster.labels(identity);
    this.#added.observe(labels, added);
    this.#updated.observe(labels, updated);
    this.#removed.observe(labels, removed);
    this.#skipped.observe(labels, skipped);
  }

  written(identity: string, operation: Mutation['verb']): void {
    this.#changes.inc({ ...this.#cluster.labels(identity), operation });
  }

  /** Upstream rounds down to whole milliseconds. */
  synced(identity: string, durationMs: number): void {
    this.#duration.observe(this.#cluster.labels(identity), Math.floor(durationMs) / 1000);
  }
}
