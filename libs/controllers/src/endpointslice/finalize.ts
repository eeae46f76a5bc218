import { type EndpointSlice, type Mutation, triggerTimeAnnotation, withoutKeys } from '@sluice/model';
import { withSortedAddresses } from './endpoint-identity.ts';
import { portMapKey } from './port-map-key.ts';
import type { SliceChanges } from './reconcile-by-port-mapping.ts';

/**
 * Turns creates into updates of slices that would be deleted, pairing the last create with the first delete (E27). A
 * recycled slice takes over the name and, as a precondition, the resourceVersion of the existing slice; nothing else.
 */
export function recycleSlices(changes: SliceChanges, canRecycle: (existing: EndpointSlice) => boolean): SliceChanges {
  const toCreate = [...changes.toCreate];
  const toUpdate = [...changes.toUpdate];
  const toDelete: EndpointSlice[] = [];
  for (const existing of changes.toDelete) {
    const last = toCreate.at(-1);
    if (last === undefined || last.addressType !== existing.addressType || !canRecycle(existing)) {
      toDelete.push(existing);
      continue;
    }
    toCreate.pop();
    toUpdate.push(replaceSlice(existing, last));
  }
  return { toCreate, toUpdate, toDelete };
}

/** Returns `body` with the name and resourceVersion of the slice that it replaces. */
export function replaceSlice(existing: EndpointSlice, body: EndpointSlice): EndpointSlice {
  const { name, resourceVersion } = existing.metadata;
  return { ...body, metadata: { ...body.metadata, name, ...(resourceVersion !== undefined && { resourceVersion }) } };
}

/** Sets the trigger-time annotation, or removes it if there is no time (E30). */
export function withTriggerTime(slice: EndpointSlice, triggerTime: string | null): EndpointSlice {
  const annotations = slice.metadata.annotations ?? {};
  if ((annotations[triggerTimeAnnotation] ?? null) === triggerTime) return slice;
  const others = withoutKeys(annotations, [triggerTimeAnnotation]);
  const set = triggerTime === null ? others : { ...others, [triggerTimeAnnotation]: triggerTime };
  return { ...slice, metadata: { ...slice.metadata, annotations: set } };
}

/** Returns the slice with ports and addresses in the order in which they are written (C23, C25). */
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
