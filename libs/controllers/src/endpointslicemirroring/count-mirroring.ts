import type { Endpoint, EndpointSlice } from '@sluice/model';
import { endpointsEqualBeyondHash } from '../endpointslice/endpoint-identity.ts';
import { portMapKey } from '../endpointslice/port-map-key.ts';
import type { MirroringCounts } from '../sync-counts.ts';
import type { MirroredAddresses, MirroredGroup } from './mirrored-addresses.ts';

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
