import { type AddressType, type EndpointSlice, portMapKey, type Recycled, replaceSlice } from '@sluice/controllers';

/**
 * H19 as upstream does it: whichever create without a name stands first leaves the list, not the one that was recycled.
 * Upstream's lists come from maps, which it walks round from anywhere, so of all turns the most successful one is taken:
 * where chance decides, upstream's retries find that one sooner or later. Creates that bear a name cannot succeed.
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

/** By ports as they come, IPv4 first: the order in which upstream fills its map (H10). */
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

/** How many creates succeed before the first that cannot; more than there are if all do. */
function succeeding({ creates }: Recycled): number {
  const clash = creates.findIndex(({ metadata }) => metadata.name !== '');
  return clash < 0 ? creates.length + 1 : clash;
}
