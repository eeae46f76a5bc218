import {
  type ControllerMetricRow,
  type ControllerMetrics,
  counter,
  type EndpointSliceCounts,
  type Hinting,
  perSync,
  type RecordMetric,
  sliceGauges,
  trafficDistributionGauge,
} from '../controller-metrics.ts';

/** The metrics of upstream's EndpointSlice controller (section I). */
export const endpointSliceMetricRows: Readonly<Record<string, ControllerMetricRow>> = {
  ...sliceGauges,
  ...trafficDistributionGauge,
  endpoints_added_per_sync: perSync('Number of endpoints added on each Service sync'),
  endpoints_removed_per_sync: perSync('Number of endpoints removed on each Service sync'),
  endpointslices_changed_per_sync: {
    type: 'histogram',
    help: 'Number of EndpointSlices changed on each Service sync',
    labels: ['identity', 'topology', 'traffic_distribution'],
  },
  changes: counter('Number of EndpointSlice changes', 'operation'),
  syncs: counter('Number of EndpointSlice syncs', 'result'),
};

export function endpointSliceMetrics(record: RecordMetric): ControllerMetrics {
  const synced = (identity: string, isGood: boolean) =>
    record('syncs', { identity, result: isGood ? 'success' : 'error' }, 1);
  /** All writes of one address type succeeded. */
  const changedSlices = (identity: string, hinting: Hinting | null, writes: number) => {
    const { topology = 'Disabled', trafficDistribution = '' } = hinting ?? {};
    const labels = { identity, topology, traffic_distribution: trafficDistribution };
    record('endpointslices_changed_per_sync', labels, writes);
  };
  return {
    /** The sync of an address type without writes is complete; the others complete with their writes. */
    decided(identity, { addressTypes, service }: EndpointSliceCounts) {
      for (const { added, removed, changed } of addressTypes) {
        record('endpoints_added_per_sync', { identity }, added);
        record('endpoints_removed_per_sync', { identity }, removed);
        if (changed === 0) changedSlices(identity, service.hinting, 0);
      }
    },
    ended: (identity, failed) => synced(identity, !failed),
    completed(identity, { results, groups, status, incomplete, counted }) {
      const applied = results.filter((result) => result.status === 'applied');
      for (const { verb } of applied) record('changes', { identity, operation: verb }, 1);
      for (const [index, { mutations }] of groups.entries()) {
        // Slices of an address type that the Service does not have belong to no sync.
        if (mutations.some((m) => m.verb === 'delete' && m.unsupportedAddressType)) continue;
        const done = applied.filter(({ group }) => group === index).length;
        if (done === mutations.length) changedSlices(identity, counted?.hinting ?? null, done);
      }
      const good = status === 'applied' || status === 'namespaceTerminating';
      synced(identity, good && !incomplete);
    },
  };
}
