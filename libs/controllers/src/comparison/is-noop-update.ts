import type { Endpoints } from '../objects/endpoints.ts';
import type { EndpointSlice } from '../objects/endpointslice.ts';
import { equalStringMaps } from './string-maps.ts';
import { structurallyEqual } from './structural-equality.ts';

/** Whether an update would change nothing in the API server (K5). Fields unknown to Sluice are compared too. */
export function isNoOpUpdate<T extends Endpoints | EndpointSlice>(existing: T, updated: T): boolean {
  const { metadata: before, ...content } = existing;
  const { metadata: after, ...contentAfter } = updated;
  return (
    equalStringMaps(before.labels, after.labels) &&
    equalStringMaps(before.annotations, after.annotations) &&
    structurallyEqual(before.ownerReferences, after.ownerReferences) &&
    structurallyEqual(before.finalizers, after.finalizers) &&
    structurallyEqual(content, contentAfter)
  );
}
