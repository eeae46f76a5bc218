import type { Endpoint, EndpointHints, EndpointSlice } from '@sluice/model';

/** Slices of one address type while hints are computed. Slices to be deleted are not included. */
export interface SliceInfo {
  readonly toCreate: readonly EndpointSlice[];
  readonly toUpdate: readonly EndpointSlice[];
  readonly unchanged: readonly EndpointSlice[];
}

/** Removes all hints. Unchanged slices that had any become updates (F10). */
export function removeHintsFromSlices({ toCreate, toUpdate, unchanged }: SliceInfo): SliceInfo {
  const hinted = unchanged.filter((slice) => (slice.endpoints ?? []).some(hasHints));
  return {
    toCreate: toCreate.map(withoutHints),
    toUpdate: [...toUpdate, ...hinted].map(withoutHints),
    unchanged: hinted.length === 0 ? unchanged : unchanged.filter((slice) => !hinted.includes(slice)),
  };
}

/** Maps the endpoints of a slice. Returns the same slice if none changes. */
export function mapEndpoints(slice: EndpointSlice, map: (endpoint: Endpoint) => Endpoint): EndpointSlice {
  const endpoints = slice.endpoints ?? [];
  const mapped = endpoints.map(map);
  return mapped.every((endpoint, i) => endpoint === endpoints[i]) ? slice : { ...slice, endpoints: mapped };
}

export function withHints(endpoint: Endpoint, hints: EndpointHints | null): Endpoint {
  if (hints !== null) return { ...endpoint, hints };
  if (!hasHints(endpoint)) return endpoint;
  const { hints: _removed, ...rest } = endpoint;
  return rest;
}

/** Names of the hinted zones or nodes. */
export function hintTargets(list: readonly { readonly name: string }[] | null | undefined): readonly string[] {
  return list?.map(({ name }) => name) ?? [];
}

function withoutHints(slice: EndpointSlice): EndpointSlice {
  return mapEndpoints(slice, (endpoint) => withHints(endpoint, null));
}

function hasHints(endpoint: Endpoint): boolean {
  return endpoint.hints !== undefined && endpoint.hints !== null;
}
