import type { EndpointSlice } from '@sluice/model';

/** An existing slice and the body that replaces it. */
export interface Replacement {
  readonly existing: EndpointSlice;
  readonly body: EndpointSlice;
}

export interface Recycled {
  readonly creates: readonly EndpointSlice[];
  readonly updates: readonly Replacement[];
  readonly deletes: readonly EndpointSlice[];
}

/**
 * Pairs creates with deletes of the same address type (H19). Unlike upstream, each create is paired once by identity,
 * so a plan with both families converges in one pass.
 */
export function recycleSlices(toCreate: readonly EndpointSlice[], toDelete: readonly EndpointSlice[]): Recycled {
  const creates: EndpointSlice[] = [];
  const updates: Replacement[] = [];
  const deletes = [...toDelete];
  for (const body of toCreate) {
    const at = deletes.findIndex(({ addressType }) => addressType === body.addressType);
    const [existing] = at < 0 ? [] : deletes.splice(at, 1);
    if (existing === undefined) creates.push(body);
    else updates.push({ existing, body });
  }
  return { creates, updates, deletes };
}
