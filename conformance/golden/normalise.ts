import {
  type Json,
  type JsonObject,
  listAt,
  listIn,
  metadataForm,
  nameForm,
  objectAt,
  objectIn,
  sortedCanonically,
  stripped,
  textAt,
  withoutEmptyName,
} from '@sluice/shadow';
import type { Vector } from './vector.ts';

/** Names of slices that the scenario specifies; all others are generated. */
export function givenNames({ objects, steps }: Vector['scenario']): ReadonlySet<string> {
  const given = [...(objects ?? []), ...(steps ?? []).flatMap(({ object }) => (object === undefined ? [] : [object]))];
  return new Set(given.filter(({ kind }) => kind === 'EndpointSlice').map(({ metadata }) => textAt(metadata, 'name')));
}

/** All Endpoints and slices in full, in an order that is the same in every run. */
export function normaliseObjects(
  objects: { readonly endpoints?: readonly Json[]; readonly endpointslices?: readonly Json[] },
  given: ReadonlySet<string>,
): { readonly endpoints: readonly JsonObject[]; readonly endpointslices: readonly JsonObject[] } {
  return {
    endpoints: sortedCanonically((objects.endpoints ?? []).map(normaliseEndpoints)),
    endpointslices: sortedCanonically((objects.endpointslices ?? []).map((slice) => normaliseSlice(slice, given))),
  };
}

function normaliseEndpoints(raw: Json): JsonObject {
  const { metadata, subsets } = stripped(objectIn(raw));
  const listed = listIn(subsets).map((subset) => {
    const fields = objectIn(subset);
    return 'ports' in fields ? { ...fields, ports: listIn(fields.ports).map(withoutEmptyName) } : fields;
  });
  return { metadata: metadataForm(objectIn(metadata)), ...(listed.length > 0 && { subsets: listed }) };
}

function normaliseSlice(raw: Json, given: ReadonlySet<string>): JsonObject {
  const slice = stripped(objectIn(raw));
  const [metadata, ports, endpoints] = [
    objectAt(slice, 'metadata'),
    listAt(slice, 'ports'),
    listAt(slice, 'endpoints'),
  ];
  return {
    metadata: { ...metadataForm(metadata), name: nameForm(metadata, given) },
    addressType: slice.addressType ?? null,
    ...(ports.length > 0 && { ports }),
    ...(endpoints.length > 0 && { endpoints: sortedCanonically(endpoints) }),
  };
}
