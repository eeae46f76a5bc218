import type { EndpointSlice } from '@sluice/model';

/** An unknown state counts as ready, as for kube-proxy. */
export function hasReady(slices: Iterable<{ readonly slice: EndpointSlice }>): boolean {
  for (const { slice } of slices)
    if (slice.endpoints?.some(({ conditions }) => conditions?.ready !== false)) return true;
  return false;
}
