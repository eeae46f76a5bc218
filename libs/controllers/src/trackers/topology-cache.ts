import type { AddressType, Node, NodeTopology, ZoneCounts, ZoneShares } from '@sluice/model';

/** Hints of one Service. Null if it has none. */
export interface ServiceHints {
  /** Whether the Service is marked as hinted, so that enabling hints causes no Event (F9). */
  readonly populated: boolean;
  /** Number of ready endpoints per hinted zone. */
  readonly byAddressType: Readonly<Partial<Record<AddressType, ZoneCounts>>>;
}

/** Tolerated overload of a zone: 20 %. */
const overloadThreshold = 0.2;
export const minLoadShare = 1 / (1 + overloadThreshold);

/** Computes the share of allocatable CPU per zone (F2). */
export function nodeTopology(nodes: Iterable<Node>): NodeTopology {
  const cpu = new Map<string, number>();
  const counts = new Map<string, number>();
  let total = 0;
  let sufficient = true;
  for (const node of nodes) {
    if (node.controlPlane || !node.ready) continue;
    counts.set(node.zone, (counts.get(node.zone) ?? 0) + 1);
    if (node.zone === '' || node.allocatableMilliCpu === 0) sufficient = false;
    cpu.set(node.zone, (cpu.get(node.zone) ?? 0) + node.allocatableMilliCpu);
    total += node.allocatableMilliCpu;
  }
  const nodesByZone = Object.fromEntries([...counts].sort(byName));
  if (!sufficient || cpu.size < 2 || total === 0) return { zoneRatios: null, nodesByZone };
  const ratios = [...cpu].sort(byName).map(([zone, milli]) => [zone, milli / total] as const);
  return { zoneRatios: Object.fromEntries(ratios), nodesByZone };
}

export function setHints(known: ServiceHints | null, type: AddressType, counts: ZoneCounts): ServiceHints {
  return { populated: true, byAddressType: { ...known?.byAddressType, [type]: counts } };
}

/** Removes the hints of one address type and, as upstream, the mark of the whole Service (F12). */
export function removeHints(known: ServiceHints | null, type: AddressType): ServiceHints | null {
  if (known === null) return null;
  const { [type]: _removed, ...others } = known.byAddressType;
  return Object.keys(others).length === 0 ? null : { populated: false, byAddressType: others };
}

/** Whether the hints of a Service have become unbalanced, so that the Service must be synced (F14). */
export function isOverloaded(hints: ServiceHints | null, topology: NodeTopology | null): boolean {
  if (hints === null) return false;
  return Object.values(hints.byAddressType).some((counts) => isZoneOverloaded(counts, topology?.zoneRatios ?? {}));
}

function isZoneOverloaded(counts: ZoneCounts, ratios: ZoneShares): boolean {
  const zones = new Map(Object.entries(counts));
  if (zones.size === 0) return false;
  const shares = Object.entries(ratios);
  if (shares.length === 0) return true;
  let total = 0;
  for (const count of zones.values()) total += count;
  return shares.some(([zone, ratio]) => {
    const endpoints = zones.get(zone);
    return endpoints === undefined || endpoints < Math.ceil(total * ratio * minLoadShare);
  });
}

function byName(a: readonly [string, number], b: readonly [string, number]): number {
  return a[0] < b[0] ? -1 : 1;
}
