import type { AddressType, Endpoint, EndpointSlice, Service } from '@sluice/model';
import type { SliceTotals } from '../controller-metrics.ts';
import type { PortGroup } from './desired-endpoints.ts';
import { type EndpointSet, endpointsEqualBeyondHash } from './endpoint-identity.ts';
import { hasSliceLabels, newEndpointSlice, type SliceChanges, sliceLabels } from './slice.ts';

/** Changes for one port group, with the number of endpoints added and removed. */
interface PortMappingChanges extends SliceChanges {
  readonly added: number;
  readonly removed: number;
}

/** Changes for all port groups of an address type. */
export interface AddressTypeChanges extends PortMappingChanges {
  /** Port-map keys in the order in which they are written. */
  readonly keys: readonly string[];
  readonly totals: Omit<SliceTotals, 'slices'>;
}

/** An existing slice with its new endpoints. */
interface Draft {
  readonly slice: EndpointSlice;
  readonly endpoints: Endpoint[];
}

/**
 * Distributes the endpoints of one port group over existing and new slices with few writes (E19–E22). Slices are never
 * merged, and one create is preferred to several updates. Empties the group's set.
 */
export function reconcileByPortMapping(
  service: Service,
  type: AddressType,
  group: PortGroup,
  existing: readonly EndpointSlice[],
  maxEndpointsPerSlice: number,
): PortMappingChanges {
  const { updated, unchanged, toDelete, removed } = matchExisting(service, existing, group.endpoints);
  const left = [...group.endpoints];
  const added = left.length;
  fillUpdated(updated, left, maxEndpointsPerSlice);
  const toCreate: EndpointSlice[] = [];
  while (left.length > 0) {
    const fitting =
      left.length < maxEndpointsPerSlice ? closestToFull(unchanged, left.length, maxEndpointsPerSlice) : null;
    if (fitting === null) {
      toCreate.push(newEndpointSlice(service, type, group.ports, left.splice(0, maxEndpointsPerSlice)));
    } else {
      updated.push({ slice: fitting, endpoints: [...(fitting.endpoints ?? []), ...left.splice(0)] });
    }
  }
  const toUpdate = updated.map(({ slice, endpoints }) => ({ ...slice, endpoints }));
  return { toCreate, toUpdate, toDelete, added, removed };
}

interface MatchedSlices {
  readonly updated: Draft[];
  readonly unchanged: readonly EndpointSlice[];
  readonly toDelete: readonly EndpointSlice[];
  readonly removed: number;
}

/**
 * Step 1 (E19): keeps the desired endpoints that existing slices contain, removing them from `rest`, and sorts the
 * slices into updated, unchanged and deleted. Only slices updated here get new labels; a slice that is merely filled
 * later keeps its labels.
 */
function matchExisting(service: Service, existing: readonly EndpointSlice[], rest: EndpointSet): MatchedSlices {
  const updated: Draft[] = [];
  const unchanged: EndpointSlice[] = [];
  const toDelete: EndpointSlice[] = [];
  let removed = 0;
  const labels = sliceLabels(service);
  const relabelled = (slice: EndpointSlice) => ({ ...slice, metadata: { ...slice.metadata, labels } });
  for (const slice of existing) {
    const held = slice.endpoints ?? [];
    const kept: Endpoint[] = [];
    let changed = false;
    for (const endpoint of held) {
      const desired = rest.take(endpoint);
      if (desired === undefined) continue;
      kept.push(desired);
      changed ||= !endpointsEqualBeyondHash(desired, endpoint);
    }
    removed += held.length - kept.length;
    if (changed || kept.length < held.length) {
      if (kept.length === 0) toDelete.push(slice);
      else updated.push({ slice: relabelled(slice), endpoints: kept });
    } else if (hasSliceLabels(slice, service)) {
      unchanged.push(slice);
    } else {
      updated.push({ slice: relabelled(slice), endpoints: [...held] });
    }
  }
  return { updated, unchanged, toDelete, removed };
}

/** Step 2 (E20): fills updated slices, the fullest first, from the front of `left`. */
function fillUpdated(updated: readonly Draft[], left: Endpoint[], max: number): void {
  if (left.length === 0) return;
  const fullestFirst = [...updated].sort((a, b) => b.endpoints.length - a.endpoints.length);
  for (const { endpoints } of fullestFirst) {
    const room = Math.max(0, max - endpoints.length);
    endpoints.push(...left.splice(0, room));
  }
}

/** Step 3 (E21): returns the slice that would be fullest after adding all remaining endpoints, if they fit into any. */
function closestToFull(slices: readonly EndpointSlice[], added: number, max: number): EndpointSlice | null {
  let closest: EndpointSlice | null = null;
  let leastRoom = max;
  for (const slice of slices) {
    const room = max - added - (slice.endpoints?.length ?? 0);
    if (room < 0 || room >= leastRoom) continue;
    closest = slice;
    leastRoom = room;
  }
  return closest;
}
