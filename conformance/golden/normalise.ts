import { isObject, type Json, type JsonObject, listIn, objectIn, sortedByText, textIn } from './json.ts';
import type { Vector } from './vector.ts';

const serviceNameLabel = 'kubernetes.io/service-name';
const longestBase = 58;

/** Metadata that a run makes up. */
const dropped = new Set([
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'managedFields',
  'selfLink',
  'generateName',
  'deletionGracePeriodSeconds',
]);

/** Fields of which an empty value means as much as none. */
const optional = new Set([
  'labels',
  'annotations',
  'ownerReferences',
  'finalizers',
  'endpoints',
  'ports',
  'subsets',
  'addresses',
  'notReadyAddresses',
  'hints',
  'forZones',
  'forNodes',
  'deprecatedTopology',
  'conditions',
  'targetRef',
]);

/** Names of slices that the scenario itself gives; any other name was generated. */
export function givenNames({ objects, steps }: Vector['scenario']): ReadonlySet<string> {
  const given = [...(objects ?? []), ...(steps ?? []).flatMap(({ object }) => (object === undefined ? [] : [object]))];
  return new Set(
    given.filter(({ kind }) => kind === 'EndpointSlice').map(({ metadata }) => textIn(objectIn(metadata).name)),
  );
}

/** A generated name as its prefix and a star, so that any suffix is accepted, and a wrong prefix is found. */
export function canonicalName(metadata: JsonObject, given: ReadonlySet<string>): string {
  const name = textIn(metadata.name);
  if (given.has(name)) return name;
  const owners = listIn(metadata.ownerReferences).map((owner) => textIn(objectIn(owner).name));
  const service = textIn(objectIn(metadata.labels)[serviceNameLabel]);
  const prefixes = [
    textIn(metadata.generateName),
    ...owners.filter((owner) => owner !== '').map((owner) => `${owner}-`),
    `${service}-`,
  ];
  for (const prefix of prefixes.map((text) => text.slice(0, longestBase))) {
    if (prefix.length > 1 && name.startsWith(prefix)) return `${prefix}*`;
  }
  return name;
}

/** All Endpoints and slices in full, in an order that does not depend on the run. */
export function normaliseObjects(
  objects: { readonly endpoints?: readonly Json[]; readonly endpointslices?: readonly Json[] },
  given: ReadonlySet<string>,
): { readonly endpoints: JsonObject[]; readonly endpointslices: JsonObject[] } {
  return {
    endpoints: sortedByText((objects.endpoints ?? []).map(normaliseEndpoints)),
    endpointslices: sortedByText((objects.endpointslices ?? []).map((slice) => normaliseSlice(slice, given))),
  };
}

function normaliseEndpoints(raw: Json): JsonObject {
  const { metadata, subsets } = objectIn(stripped(raw));
  const listed = listIn(subsets).map((subset) => {
    const fields = objectIn(subset);
    if (!('ports' in fields)) return fields;
    return { ...fields, ports: listIn(fields.ports).map(withoutEmptyName) };
  });
  return {
    metadata: normaliseMetadata(objectIn(metadata)),
    ...(listed.length > 0 && { subsets: listed }),
  };
}

/** In Endpoints an empty port name is none; in slices it is a name. */
function withoutEmptyName(port: Json): Json {
  if (!isObject(port) || port.name !== '') return port;
  const { name: _empty, ...others } = port;
  return others;
}

function normaliseSlice(raw: Json, given: ReadonlySet<string>): JsonObject {
  const { metadata, addressType, ports, endpoints } = objectIn(stripped(raw));
  return {
    metadata: { ...normaliseMetadata(objectIn(metadata)), name: canonicalName(objectIn(metadata), given) },
    addressType: addressType ?? null,
    ...(listIn(ports).length > 0 && { ports: listIn(ports) }),
    ...(listIn(endpoints).length > 0 && { endpoints: sortedByText(listIn(endpoints)) }),
  };
}

function normaliseMetadata(metadata: JsonObject): JsonObject {
  const kept = Object.entries(metadata).filter(([key]) => !dropped.has(key) && key !== 'deletionTimestamp');
  return { ...Object.fromEntries(kept), ...(metadata.deletionTimestamp !== undefined && { deleting: true }) };
}

/** Without nulls, and without empty values of optional fields. */
function stripped(value: Json): Json {
  if (Array.isArray(value)) return value.map(stripped);
  if (!isObject(value)) return value;
  const kept: [string, Json][] = [];
  for (const [key, raw] of Object.entries(value)) {
    const inner = stripped(raw);
    if (inner === null || (optional.has(key) && isEmpty(inner)) || (key === 'hostname' && inner === '')) continue;
    kept.push([key, key === 'targetRef' ? withoutEmptyTexts(objectIn(inner)) : inner]);
  }
  return Object.fromEntries(kept);
}

function withoutEmptyTexts(fields: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ''));
}

function isEmpty(value: Json): boolean {
  if (isObject(value)) return Object.keys(value).length === 0;
  return Array.isArray(value) ? value.length === 0 : !value;
}
