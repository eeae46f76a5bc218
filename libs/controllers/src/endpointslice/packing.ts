import type { AddressType, Endpoint, EndpointSlice } from '../objects/endpointslice.ts';
import type { Service } from '../objects/service.ts';
import type { SliceTotals } from '../sync-counts.ts';
import type { PortGroup } from './desired-endpoints.ts';
import { equalBeyondIdentity } from './endpoint-identity.ts';
import type { EndpointSet } from './endpoint-set.ts';
import { hasLabelsOf, newEndpointSlice, sliceLabels } from './new-slice.ts';

/** What becomes of the slices of one port group, or of one address type. Slices in none of the lists stay as they are. */
export interface SliceChanges {
  readonly toCreate: readonly EndpointSlice[];
  readonly toUpdate: readonly EndpointSlice[];
  readonly toDelete: readonly EndpointSlice[];
}

/** The slices of one port group, and how many endpoints came and went. */
export interface PackedGroup extends SliceChanges {
  readonly added: number;
  readonly removed: number;
}

/** All port groups of an address type. */
export interface PackedGroups extends PackedGroup {
  /** Keys of their ports, in the order in which they are written. */
  readonly keys: readonly string[];
  readonly totals: Omit<SliceTotals, 'slices'>;
}

/** An existing slice on the way to its new content. */
interface Draft {
  readonly slice: EndpointSlice;
  readonly endpoints: Endpoint[];
}

/**
 * Spreads the endpoints of one port group over its existing slices and new ones, with few writes (E19–E22).
 * Slices are never merged, and one create is preferred to several updates. The set of the group is used up.
 */
export function packPortGroup(
  service: Service,
  type: AddressType,
  group: PortGroup,
  existing: readonly EndpointSlice[],
  maxEndpointsPerSlice: number,
): PackedGroup {
  const { updated, unchanged, toDelete, removed } = keepDesired(service, existing, group.endpoints);
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
      unchanged.splice(unchanged.indexOf(fitting), 1);
      updated.push({ slice: fitting, endpoints: [...(fitting.endpoints ?? []), ...left.splice(0)] });
    }
  }
  const toUpdate = updated.map(({ slice, endpoints }) => ({ ...slice, endpoints }));
  return { toCreate, toUpdate, toDelete, added, removed };
}

interface Kept {
  readonly updated: Draft[];
  readonly unchanged: EndpointSlice[];
  readonly toDelete: readonly EndpointSlice[];
  readonly removed: number;
}

/**
 * Step 1: takes from `rest` what existing slices already hold, and tells slices apart by what becomes of them (E19).
 * Only slices updated here get new labels; one that is merely filled up later keeps those it has.
 */
function keepDesired(service: Service, existing: readonly EndpointSlice[], rest: EndpointSet): Kept {
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
      changed ||= !equalBeyondIdentity(desired, endpoint);
    }
    removed += held.length - kept.length;
    if (changed || kept.length < held.length) {
      if (kept.length === 0) toDelete.push(slice);
      else updated.push({ slice: relabelled(slice), endpoints: kept });
    } else if (hasLabelsOf(slice, service)) {
      unchanged.push(slice);
    } else {
      updated.push({ slice: relabelled(slice), endpoints: [...held] });
    }
  }
  return { updated, unchanged, toDelete, removed };
}

/** Step 2: fills slices that are written anyway, the fullest first (E20). Takes from the front of `left`. */
function fillUpdated(updated: readonly Draft[], left: Endpoint[], max: number): void {
  if (left.length === 0) return;
  const fullestFirst = [...updated].sort((a, b) => b.endpoints.length - a.endpoints.length);
  for (const { endpoints } of fullestFirst) {
    const room = Math.max(0, max - endpoints.length);
    endpoints.push(...left.splice(0, room));
  }
}

/** Step 3: the slice with the least room left after taking all of them, if they fit (E21). */
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
