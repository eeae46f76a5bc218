import type { Endpoints } from '../objects/endpoints.ts';
import type { EndpointSlice } from '../objects/endpointslice.ts';
import type { ObjectMeta } from '../objects/metadata.ts';
import { equalStringMaps } from './string-maps.ts';
import { structurallyEqual } from './structural-equality.ts';

/** Whether an update would change nothing in the API server (K5). Fields unknown to Sluice are compared too. */
export function isNoOpUpdate<T extends Endpoints | EndpointSlice>(existing: T, updated: T): boolean {
  const { metadata: before, ...content } = existing;
  const { metadata: after, ...contentAfter } = updated;
  return equalMetadata(before, after) && structurallyEqual(content, contentAfter);
}

/** Whether metadata is equal as far as clients decide on it. */
export function equalMetadata(a: ObjectMeta, b: ObjectMeta): boolean {
  return (
    equalStringMaps(a.labels, b.labels) &&
    equalStringMaps(a.annotations, b.annotations) &&
    structurallyEqual(a.ownerReferences, b.ownerReferences) &&
    structurallyEqual(a.finalizers, b.finalizers)
  );
}
