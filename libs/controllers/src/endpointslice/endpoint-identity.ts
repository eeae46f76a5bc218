import { equalObjectReferences } from '../comparison/object-references.ts';
import type { Endpoint } from '../objects/endpointslice.ts';

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
    equalObjectReferences(a.targetRef, b.targetRef)
  );
}

/** Whether an endpoint counts as ready. An unknown condition does not. */
export function isReady(endpoint: Endpoint): boolean {
  return endpoint.conditions?.ready === true;
}
