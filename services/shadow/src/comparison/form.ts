import { isObject, type Json, type JsonObject, listAt, objectAt, textAt, without } from './json.ts';

export const serviceNameLabel = 'kubernetes.io/service-name';

/** Metadata that the server generates or that records history. */
const droppedMetadata = [
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'managedFields',
  'selfLink',
  'generateName',
];

/** Fields whose empty value equals an absent one. */
const optionalMembers = new Set([
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

/** Maximum length of the prefix of a generated name (K1). */
const longestPrefix = 58;

/** Names of objects by uid; undefined keeps uids. */
export type Uids = ReadonlyMap<string, string> | undefined;

/** Metadata without values that differ between runs; of a deletion, only that it was requested. */
export function metadataForm(metadata: JsonObject): JsonObject {
  return {
    ...without(metadata, ...droppedMetadata),
    ...(textAt(metadata, 'deletionTimestamp') !== '' && { deleting: true }),
  };
}

/**
 * Replaces the suffix of a generated name by an asterisk. A name with another prefix stays and therefore shows up as a
 * difference.
 */
export function nameForm(metadata: JsonObject, given: ReadonlySet<string> | undefined): string {
  const name = textAt(metadata, 'name');
  if (given?.has(name)) return name;
  const owners = listAt(metadata, 'ownerReferences').map((owner) => `${textAt(owner, 'name')}-`);
  const service = textAt(objectAt(metadata, 'labels'), serviceNameLabel);
  for (const base of [textAt(metadata, 'generateName'), ...owners, `${service}-`]) {
    const prefix = base.slice(0, longestPrefix);
    if (prefix.length > 1 && name.startsWith(prefix)) return `${prefix}*`;
  }
  return name;
}

/** An empty port name is absent in Endpoints, but a name in slices. */
export function withoutEmptyName(port: Json): Json {
  return isObject(port) && port.name === '' ? without(port, 'name') : port;
}

/** Drops nulls and empty optional fields, and replaces uids by the names of their objects. */
export function stripped(value: JsonObject, uids?: Uids): JsonObject {
  const kept: Record<string, Json> = {};
  for (const [key, member] of Object.entries(value)) {
    let inner = strippedValue(member, uids);
    if (key === 'targetRef' && isObject(inner)) inner = dropEmptyTexts(inner);
    if (inner === null || (key === 'hostname' && inner === '')) continue;
    if (optionalMembers.has(key) && isEmpty(inner)) continue;
    kept[key] =
      uids !== undefined && key === 'uid' && typeof inner === 'string' ? (uids.get(inner) ?? 'unknown') : inner;
  }
  return kept;
}

function strippedValue(value: Json, uids: Uids): Json {
  if (Array.isArray(value)) return value.map((element: Json) => strippedValue(element, uids));
  return isObject(value) ? stripped(value, uids) : value;
}

function dropEmptyTexts(value: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== ''));
}

function isEmpty(value: Json): boolean {
  if (Array.isArray(value)) return value.length === 0;
  return isObject(value) && Object.keys(value).length === 0;
}
