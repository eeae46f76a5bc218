import type { Endpoint, EndpointSlice } from '@sluice/model';
import {
  type ControllerMetricRow,
  type ControllerMetrics,
  counter,
  doublingBuckets,
  type MirroringCounts,
  perSync,
  type RecordMetric,
  sliceGauges,
} from '../controller-metrics.ts';
import { endpointsEqualBeyondHash, portMapKey } from '../endpointslice/endpoint-identity.ts';
import type { MirroredAddresses, MirroredGroup } from './mirrored-addresses.ts';

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

/**
 * Returns what one decision contributes to the metrics (I1). Changes in a group are counted against the slice that is
 * kept, because a group ends up with one slice.
 */
export function countMirroring(
  { groups, portKeys, skipped }: MirroredAddresses,
  existing: ReadonlyMap<string, readonly EndpointSlice[]>,
  kept: ReadonlyMap<string, EndpointSlice>,
  max: number,
): MirroringCounts {
  let [endpoints, desiredSlices, added, updated, removed] = [0, 0, 0, 0, 0];
  for (const [key, group] of groups) {
    const changes = changesOf(kept.get(key)?.endpoints ?? [], group);
    endpoints += group.endpoints.size;
    desiredSlices += Math.ceil(group.endpoints.size / max);
    added += changes.added;
    updated += changes.updated;
    removed += changes.removed;
  }
  for (const [key, slices] of existing) {
    if (groups.has(key)) continue;
    for (const slice of slices) if (losesAll(slice, portKeys)) removed += slice.endpoints?.length ?? 0;
  }
  const service = { endpoints, slices: groups.size, desiredSlices, hinting: null };
  return { service, added, updated, removed, skipped };
}

/** Endpoints of a deleted slice count as removed only if its ports are still mirrored, as upstream. */
function losesAll({ addressType, ports }: EndpointSlice, portKeys: ReadonlySet<string>): boolean {
  return (addressType === 'IPv4' || addressType === 'IPv6') && portKeys.has(portMapKey(ports).key);
}

/** An endpoint that the slice contains twice counts once. */
function changesOf(held: readonly Endpoint[], { endpoints }: MirroredGroup) {
  const found = new Set<Endpoint>();
  let [updated, removed] = [0, 0];
  for (const endpoint of held) {
    const desired = endpoints.get(endpoint);
    if (desired === undefined) removed++;
    else {
      found.add(desired);
      if (!endpointsEqualBeyondHash(desired, endpoint)) updated++;
    }
  }
  return { added: endpoints.size - found.size, updated, removed };
}
