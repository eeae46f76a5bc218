import {
  type ControllerMetricRow,
  type ControllerMetrics,
  counter,
  doublingBuckets,
  perSync,
  type RecordMetric,
  sliceGauges,
} from '../controller-metrics.ts';
import type { MirroringCounts } from '../sync-counts.ts';

/** The metrics of upstream's EndpointSliceMirroring controller (section I). */
export const mirroringMetricRows: Readonly<Record<string, ControllerMetricRow>> = {
  ...sliceGauges,
  endpoints_added_per_sync: perSync('Number of endpoints added on each Endpoints sync'),
  endpoints_updated_per_sync: perSync('Number of endpoints updated on each Endpoints sync'),
  endpoints_removed_per_sync: perSync('Number of endpoints removed on each Endpoints sync'),
  addresses_skipped_per_sync: perSync(
    'Number of addresses skipped on each Endpoints sync due to being invalid or exceeding MaxEndpointsPerSubset',
  ),
  endpoints_sync_duration: {
    ...perSync('Duration of syncEndpoints() in seconds'),
    buckets: doublingBuckets(0.001, 15),
  },
  changes: counter('Number of EndpointSlice changes', 'operation'),
};

export function mirroringMetrics(record: RecordMetric): ControllerMetrics {
  /** Upstream rounds down to whole milliseconds. */
  const synced = (identity: string, tookMs: number) =>
    record('endpoints_sync_duration', { identity }, Math.floor(tookMs) / 1000);
  return {
    decided(identity, { added, updated, removed, skipped }: MirroringCounts) {
      record('endpoints_added_per_sync', { identity }, added);
      record('endpoints_updated_per_sync', { identity }, updated);
      record('endpoints_removed_per_sync', { identity }, removed);
      record('addresses_skipped_per_sync', { identity }, skipped);
    },
    ended: (identity) => synced(identity, 0),
    completed(identity, { results, tookMs, counted }) {
      synced(identity, tookMs);
      // Deletes of a clean-up do not count (I3).
      if (counted === null) return;
      for (const { status, verb } of results)
        if (status === 'applied') record('changes', { identity, operation: verb }, 1);
    },
  };
}
