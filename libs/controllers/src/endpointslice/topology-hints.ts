import type { AddressType, Endpoint, EndpointSlice, NodeTopology } from '@sluice/model';
import { minLoadShare, removeHints, type ServiceHints, setHints } from '../trackers/topology-cache.ts';
import { isReady } from './endpoint-identity.ts';
import {
  disabled,
  type HintEvent,
  hintTargets,
  mapEndpoints,
  removeHintsFromSlices,
  type SliceInfo,
  withHints,
} from './slice-hints.ts';

export interface HintedSlices {
  readonly lists: SliceInfo;
  readonly hints: ServiceHints | null;
  readonly events: readonly HintEvent[];
}

/** Distributes the ready endpoints of one address type over zones in proportion to their CPU (F3–F10). */
export function addHints(
  lists: SliceInfo,
  type: AddressType,
  topology: NodeTopology | null,
  known: ServiceHints | null,
): HintedSlices {
  const withoutAny = (why: string, slices: SliceInfo): HintedSlices => ({
    lists: removeHintsFromSlices(slices),
    hints: removeHints(known, type),
    events: [disabled(why, type)],
  });
  const allocations = allocateToZones(topology, countReady(lists));
  if (typeof allocations === 'string') return withoutAny(allocations, lists);

  const { kept, renewed, allocated } = separateUnchanged(lists.unchanged, allocations);
  const toUpdate = [...lists.toUpdate, ...renewed];
  const separated = { toCreate: lists.toCreate, toUpdate, unchanged: kept };
  const written = [...lists.toCreate, ...toUpdate];
  for (const endpoint of readyEndpoints(written)) {
    const zone = endpoint.zone ?? '';
    if (zone === '') return withoutAny('One or more endpoints do not have a zone specified', separated);
    allocated.set(zone, (allocated.get(zone) ?? 0) + 1);
  }
  if (allocated.size === 0) return withoutAny('No hints allocated for zones', separated);
  const moves = givingAndReceivingZones(allocations, allocated);
  const hint = (slice: EndpointSlice) => mapEndpoints(slice, (endpoint) => hintedEndpoint(endpoint, moves, allocated));
  const hinted = { toCreate: lists.toCreate.map(hint), toUpdate: toUpdate.map(hint), unchanged: kept };
  return {
    lists: hinted,
    hints: setHints(known, type, Object.fromEntries(allocated)),
    events: known?.populated === true ? [] : [enabled(type)],
  };
}

function enabled(type: AddressType): HintEvent {
  const message = `Topology Aware Hints has been enabled, addressType: ${type}`;
  return { type: 'Normal', reason: 'TopologyAwareHintsEnabled', message };
}

function* readyEndpoints(slices: readonly EndpointSlice[]): Generator<Endpoint> {
  for (const slice of slices) for (const endpoint of slice.endpoints ?? []) if (isReady(endpoint)) yield endpoint;
}

function countReady({ toCreate, toUpdate, unchanged }: SliceInfo): number {
  let count = 0;
  for (const _ of readyEndpoints([...toCreate, ...toUpdate, ...unchanged])) count++;
  return count;
}

interface Separated {
  readonly kept: readonly EndpointSlice[];
  /** Slices whose hints do not fit the allocations and are computed again. */
  readonly renewed: readonly EndpointSlice[];
  /** Hints of the kept slices per zone. */
  readonly allocated: Map<string, number>;
}

/** Keeps unchanged slices whose hints still fit (F5). */
function separateUnchanged(unchanged: readonly EndpointSlice[], allocations: Allocations): Separated {
  const allocated = new Map<string, number>();
  const kept: EndpointSlice[] = [];
  const renewed: EndpointSlice[] = [];
  for (const slice of unchanged) {
    const counts = fittingHints(slice, allocations, allocated);
    if (counts === null) {
      renewed.push(slice);
      continue;
    }
    kept.push(slice);
    for (const [zone, count] of counts) allocated.set(zone, (allocated.get(zone) ?? 0) + count);
  }
  return { kept, renewed, allocated };
}

/**
 * Returns the hints of a slice per zone, or null if a ready endpoint lacks a hint or a zone would exceed its maximum.
 */
function fittingHints(
  slice: EndpointSlice,
  allocations: Allocations,
  allocated: ReadonlyMap<string, number>,
): ReadonlyMap<string, number> | null {
  const counts = new Map<string, number>();
  for (const endpoint of readyEndpoints([slice])) {
    const zones = hintTargets(endpoint.hints?.forZones);
    if (zones.length === 0) return null;
    for (const zone of zones) {
      if (!allocations.has(zone)) return null;
      counts.set(zone, (counts.get(zone) ?? 0) + 1);
    }
  }
  for (const [zone, count] of counts) {
    if (count + (allocated.get(zone) ?? 0) > (allocations.get(zone)?.maximum ?? 0)) return null;
  }
  return counts;
}

/**
 * Hints a ready endpoint for its own zone, or for a receiving zone if its own is a giving one (F6, F8). Consumes the
 * moves.
 */
function hintedEndpoint(endpoint: Endpoint, moves: ZoneMoves, allocated: Map<string, number>): Endpoint {
  if (!isReady(endpoint)) return endpoint;
  const own = endpoint.zone ?? '';
  const receiver = (moves.giving.get(own) ?? 0) > 0 ? firstWithRoom(moves.receiving) : null;
  if (receiver === null) return withHints(endpoint, { forZones: [{ name: own }] });
  count(moves.giving, own, -1);
  count(moves.receiving, receiver, -1);
  count(allocated, own, -1);
  count(allocated, receiver, 1);
  return withHints(endpoint, { forZones: [{ name: receiver }] });
}

function firstWithRoom(receiving: ReadonlyMap<string, number>): string | null {
  for (const [zone, room] of receiving) if (room > 0) return zone;
  return null;
}

function count(counts: Map<string, number>, zone: string, change: number): void {
  counts.set(zone, (counts.get(zone) ?? 0) + change);
}

/** Desired, minimum and maximum number of ready endpoints of a zone (F3). */
interface Allocation {
  readonly desired: number;
  readonly minimum: number;
  readonly maximum: number;
}

export type Allocations = ReadonlyMap<string, Allocation>;

/** Returns the allocation per zone, or the reason why hints are not possible. */
export function allocateToZones(topology: NodeTopology | null, endpoints: number): Allocations | string {
  if (!topology?.zoneRatios) return insufficientNodeInfo;
  const ratios = Object.entries(topology.zoneRatios);
  if (ratios.length < 2) return 'Nodes only ready in one zone';
  if (ratios.length > endpoints) {
    return `Insufficient number of endpoints (${endpoints} endpoints, ${ratios.length} zones)`;
  }
  let minimums = 0;
  const shares = ratios.map(([zone, ratio]) => {
    const share = ratio * endpoints;
    const minimum = Math.ceil(share * minLoadShare);
    minimums += minimum;
    return { zone, minimum, desired: Math.max(share, minimum) };
  });
  if (minimums > endpoints) {
    return `Unable to allocate minimum required endpoints to each zone without exceeding overload threshold (${endpoints} endpoints, ${ratios.length} zones)`;
  }
  const spare = endpoints - minimums;
  return new Map(shares.map(({ zone, minimum, desired }) => [zone, { desired, minimum, maximum: minimum + spare }]));
}

const insufficientNodeInfo =
  'Insufficient Node information: allocatable CPU or zone not specified on one or more nodes';

/** Number of endpoints that zones give and receive. */
interface ZoneMoves {
  readonly giving: Map<string, number>;
  readonly receiving: Map<string, number>;
}

/**
 * Moves endpoints one at a time from the zone furthest above its share to the zone furthest below (F7). Ties are broken
 * by name.
 */
export function givingAndReceivingZones(allocations: Allocations, allocated: ReadonlyMap<string, number>): ZoneMoves {
  const surplus = new Map<string, number>();
  const deficit = new Map<string, number>();
  for (const [zone, { desired }] of allocations) {
    const above = (allocated.get(zone) ?? 0) - desired;
    if (above > 0) surplus.set(zone, above);
    else if (above < 0) deficit.set(zone, -above);
  }
  const giving = new Map<string, number>();
  const receiving = new Map<string, number>();
  for (;;) {
    const from = most(surplus);
    const to = most(deficit);
    if (from === null || to === null) break;
    if ((from.amount < 1 && to.amount < 1) || from.amount < 0.5 || to.amount < 0.5) break;
    giving.set(from.zone, (giving.get(from.zone) ?? 0) + 1);
    receiving.set(to.zone, (receiving.get(to.zone) ?? 0) + 1);
    surplus.set(from.zone, from.amount - 1);
    deficit.set(to.zone, to.amount - 1);
  }
  return { giving, receiving };
}

function most(amounts: ReadonlyMap<string, number>): { zone: string; amount: number } | null {
  let best: { zone: string; amount: number } | null = null;
  for (const [zone, amount] of amounts) if (amount > (best?.amount ?? 0)) best = { zone, amount };
  return best;
}
