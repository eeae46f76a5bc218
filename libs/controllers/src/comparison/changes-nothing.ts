import type { Endpoints } from '../objects/endpoints.ts';
import type { EndpointSlice } from '../objects/endpointslice.ts';
import { equalStringMaps } from './string-maps.ts';
import { structurallyEqual } from './structural-equality.ts';

/** Whether the API server would store nothing new of an update (K5); fields unknown to Sluice count. */
export function changesNothing<T extends Endpoints | EndpointSlice>(existing: T, updated: T): boolean {
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
