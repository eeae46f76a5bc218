import type { EndpointSlice } from '../objects/endpointslice.ts';

/** An existing slice that a new body takes the place of. */
export interface Replacement {
  readonly doomed: EndpointSlice;
  readonly body: EndpointSlice;
}

export interface Recycled {
  readonly creates: readonly EndpointSlice[];
  readonly updates: readonly Replacement[];
  readonly deletes: readonly EndpointSlice[];
}

/**
 * Pairs creates with deletes of the same address type (H19). Each create leaves the list once, by identity,
 * so a plan with both families converges in one pass, unlike upstream's.
 */
export function recycleSlices(toCreate: readonly EndpointSlice[], toDelete: readonly EndpointSlice[]): Recycled {
  const creates: EndpointSlice[] = [];
  const updates: Replacement[] = [];
  const deletes = [...toDelete];
  for (const body of toCreate) {
    const at = deletes.findIndex(({ addressType }) => addressType === body.addressType);
    const [doomed] = at < 0 ? [] : deletes.splice(at, 1);
    if (doomed === undefined) creates.push(body);
    else updates.push({ doomed, body });
  }
  return { creates, updates, deletes };
}
