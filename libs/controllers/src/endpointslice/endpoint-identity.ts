import type { Endpoint, ObjectReference } from '@sluice/model';

/** Returns the endpoint with sorted addresses, which is how endpoints are written (C23). */
export function withSortedAddresses(endpoint: Endpoint): Endpoint {
  const { addresses } = endpoint;
  if (addresses.length < 2) return endpoint;
  const sorted = [...addresses].sort();
  return sorted.every((address, i) => address === addresses[i]) ? endpoint : { ...endpoint, addresses: sorted };
}

/** Whether two versions of the same endpoint are equal, apart from hints (C24). */
export function endpointsEqualBeyondHash(a: Endpoint, b: Endpoint): boolean {
  return (
    (a.nodeName ?? null) === (b.nodeName ?? null) &&
    (a.zone ?? null) === (b.zone ?? null) &&
    (a.conditions?.ready ?? null) === (b.conditions?.ready ?? null) &&
    (a.conditions?.serving ?? null) === (b.conditions?.serving ?? null) &&
    (a.conditions?.terminating ?? null) === (b.conditions?.terminating ?? null) &&
    equalTargets(a.targetRef ?? null, b.targetRef ?? null)
  );
}

function equalTargets(a: ObjectReference | null, b: ObjectReference | null): boolean {
  if (a === b) return true;
  if (a === null || b === null) return false;
  return (
    (a.uid ?? '') === (b.uid ?? '') &&
    (a.kind ?? '') === (b.kind ?? '') &&
    (a.name ?? '') === (b.name ?? '') &&
    (a.namespace ?? '') === (b.namespace ?? '') &&
    (a.apiVersion ?? '') === (b.apiVersion ?? '') &&
    (a.fieldPath ?? '') === (b.fieldPath ?? '')
  );
}

/** Whether an endpoint counts as ready. An unknown condition does not. */
export function isReady(endpoint: Endpoint): boolean {
  return endpoint.conditions?.ready === true;
}
