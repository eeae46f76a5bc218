import { withoutKeys } from '../comparison/string-maps.ts';
import type { EndpointSlice } from '../objects/endpointslice.ts';
import { triggerTimeAnnotation } from '../objects/well-known.ts';
import type { Mutation } from '../plan.ts';
import { withSortedAddresses } from './endpoint-identity.ts';
import type { SliceChanges } from './packing.ts';
import { portMapKey } from './port-map-key.ts';

/**
 * Turns creates into updates of slices that would be deleted, from the end of the creates and the front of the deletes
 * (E27). A recycled slice gets the name and, as a fence, the resourceVersion of the one whose place it takes; nothing else.
 */
export function recycleSlices(changes: SliceChanges, mayRecycle: (doomed: EndpointSlice) => boolean): SliceChanges {
  const toCreate = [...changes.toCreate];
  const toUpdate = [...changes.toUpdate];
  const toDelete: EndpointSlice[] = [];
  for (const doomed of changes.toDelete) {
    const last = toCreate.at(-1);
    if (last === undefined || last.addressType !== doomed.addressType || !mayRecycle(doomed)) {
      toDelete.push(doomed);
      continue;
    }
    toCreate.pop();
    toUpdate.push(inPlaceOf(doomed, last));
  }
  return { toCreate, toUpdate, toDelete };
}

/** The new body under the name of an existing slice. */
export function inPlaceOf(existing: EndpointSlice, body: EndpointSlice): EndpointSlice {
  const { name, resourceVersion } = existing.metadata;
  return { ...body, metadata: { ...body.metadata, name, ...(resourceVersion !== undefined && { resourceVersion }) } };
}

/** The trigger-time annotation set, or removed if there is no time (E30). */
export function withTriggerTime(slice: EndpointSlice, triggerTime: string | null): EndpointSlice {
  const annotations = slice.metadata.annotations ?? {};
  if ((annotations[triggerTimeAnnotation] ?? null) === triggerTime) return slice;
  const others = withoutKeys(annotations, [triggerTimeAnnotation]);
  const set = triggerTime === null ? others : { ...others, [triggerTimeAnnotation]: triggerTime };
  return { ...slice, metadata: { ...slice.metadata, annotations: set } };
}

/** Ports and addresses of a slice in the order in which they are always written (C23, C25). */
export function inWrittenOrder(slice: EndpointSlice): EndpointSlice {
  return {
    ...slice,
    ports: portMapKey(slice.ports).ports,
    endpoints: (slice.endpoints ?? []).map(withSortedAddresses),
  };
}

export function creation(slice: EndpointSlice): Mutation {
  return { verb: 'create', resource: 'endpointslices', object: slice };
}

export function replacement(slice: EndpointSlice): Mutation {
  return { verb: 'update', resource: 'endpointslices', object: slice };
}

export function deletion({ metadata }: EndpointSlice): Extract<Mutation, { readonly verb: 'delete' }> {
  const { name, uid, resourceVersion } = metadata;
  return {
    verb: 'delete',
    resource: 'endpointslices',
    name,
    ...(uid !== undefined && { uid }),
    ...(resourceVersion !== undefined && { resourceVersion }),
  };
}
