import { isObject, type Json, type JsonObject, listAt, objectAt, textAt, without } from './json.ts';

export const serviceNameLabel = 'kubernetes.io/service-name';

/** Metadata that the server makes up, or that says how an object came to be rather than what it is. */
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

/** Members for which empty and absent mean the same. */
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

/** The length to which the server cuts the beginning of a generated name (K1). */
const longestPrefix = 58;

/** What uids denote; undefined: they are kept. */
export type Uids = ReadonlyMap<string, string> | undefined;

/** Metadata without what a run makes up; of a deletion only that it was asked for. */
export function metadataForm(metadata: JsonObject): JsonObject {
  return {
    ...without(metadata, ...droppedMetadata),
    ...(textAt(metadata, 'deletionTimestamp') !== '' && { deleting: true }),
  };
}

/** A generated name becomes its beginning and an asterisk; one with a wrong beginning stays, and thus shows. */
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

/** In Endpoints an empty port name is none; in slices it is a name. */
export function withoutEmptyName(port: Json): Json {
  return isObject(port) && port.name === '' ? without(port, 'name') : port;
}

/** Drops nulls and empty optional members, and replaces uids by what they denote. */
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
