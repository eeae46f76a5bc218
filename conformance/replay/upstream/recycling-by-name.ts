import { portMapKey, type Recycled, replaceSlice } from '@sluice/controllers';
import type { AddressType, EndpointSlice } from '@sluice/model';

/**
 * Recycles slices as upstream does (H19): the first create without a name is dropped from the list, not the recycled one.
 * Upstream iterates over maps, so of all rotations the most successful one is used: upstream's retries find it sooner or later. Creates
 * with a name cannot succeed.
 */
export function recycleByName(toCreate: readonly EndpointSlice[], toDelete: readonly EndpointSlice[]): Recycled {
  let best: Recycled | null = null;
  const listed = inOrderOfSubsets(toCreate);
  for (let turn = 0; turn < listed.length; turn++) {
    const turned = [...listed.slice(turn), ...listed.slice(0, turn)];
    const types = [...new Set(turned.map(({ addressType }) => addressType))];
    for (const order of [types, types.toReversed()]) {
      const recycled = recycleInOrder(turned, toDelete, order);
      if (best === null || succeeding(recycled) > succeeding(best)) best = recycled;
    }
  }
  return best ?? { creates: [], updates: [], deletes: toDelete };
}

/** By ports in order of appearance, IPv4 first: the order in which upstream fills its map (H10). */
function inOrderOfSubsets(slices: readonly EndpointSlice[]): EndpointSlice[] {
  const byPorts = Map.groupBy(slices, ({ ports }) => portMapKey(ports).key);
  return [...byPorts.values()].flatMap((same) => same.toSorted((a, b) => (a.addressType < b.addressType ? -1 : 1)));
}

function recycleInOrder(
  toCreate: readonly EndpointSlice[],
  toDelete: readonly EndpointSlice[],
  types: readonly AddressType[],
): Recycled {
  const named = new Map<EndpointSlice, EndpointSlice>();
  const creates = [...toCreate];
  const recycled = new Set<EndpointSlice>();
  for (const type of types) {
    const ofType = toCreate.filter(({ addressType }) => addressType === type);
    const existingOfType = toDelete.filter(({ addressType }) => addressType === type);
    for (const [i, body] of ofType.entries()) {
      const existing = existingOfType[i];
      if (existing === undefined) break;
      const first = creates.findIndex((slice) => !named.has(slice));
      if (first >= 0) creates.splice(first, 1);
      named.set(body, existing);
      recycled.add(existing);
    }
  }
  return {
    creates: creates.map((body) => {
      const existing = named.get(body);
      return existing === undefined ? body : replaceSlice(existing, body);
    }),
    updates: [...named].map(([body, existing]) => ({ existing, body })),
    deletes: toDelete.filter((slice) => !recycled.has(slice)),
  };
}

/** Number of creates that succeed before the first that cannot; one more than there are if all succeed. */
function succeeding({ creates }: Recycled): number {
  const clash = creates.findIndex(({ metadata }) => metadata.name !== '');
  return clash < 0 ? creates.length + 1 : clash;
}
