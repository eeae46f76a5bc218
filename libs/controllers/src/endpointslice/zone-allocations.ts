import type { NodeTopology } from '@sluice/model';
import { minLoadShare } from '../trackers/topology-cache.ts';

/** Desired, minimum and maximum number of ready endpoints of a zone (F3). */
export interface Allocation {
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
export interface ZoneMoves {
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
