import { isObject, type Json, type JsonObject, listAt, objectAt, sortedCanonically, textAt, without } from './json.ts';

/** What one cluster holds, as its API server lists it. */
export interface ClusterState {
  readonly services: readonly JsonObject[];
  readonly pods: readonly JsonObject[];
  readonly endpoints: readonly JsonObject[];
  readonly endpointslices: readonly JsonObject[];
}

export interface NormaliseOptions {
  /**
   * What becomes of the annotation with the last change's trigger time. `drop` where several changes may have gone
   * into one write on one side and into two on the other; default `keep`.
   */
  readonly triggerTime?: 'keep' | 'presence' | 'drop';
  /** Names of slices that a user gave; all other names were generated. */
  readonly userSlices?: ReadonlySet<string>;
  /** Keeps uids, to compare states of one and the same cluster; default: they become what they denote. */
  readonly keepUids?: boolean;
}

/** Endpoints or an EndpointSlice in a form that two clusters share if they mean the same. */
export interface Normalised {
  readonly namespace: string;
  /** The Service that it speaks of: its name, or the label of a slice; may be empty. */
  readonly service: string;
  readonly object: JsonObject;
}

export const triggerTimeAnnotation = 'endpoints.kubernetes.io/last-change-trigger-time';
export const serviceNameLabel = 'kubernetes.io/service-name';
export const managedByLabel = 'endpointslice.kubernetes.io/managed-by';

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

/**
 * Brings the Endpoints and EndpointSlices of a cluster into the form of the golden vectors' comparer, with what two
 * clusters need beyond it: uids are replaced by what they denote, and lists whose order follows from uids (subsets and
 * the addresses in them: D25, L4) are sorted.
 */
export function normalise(
  state: ClusterState,
  options: NormaliseOptions = {},
): { readonly endpoints: readonly Normalised[]; readonly slices: readonly Normalised[] } {
  const uids = options.keepUids ? undefined : uidsOf(state);
  return {
    endpoints: state.endpoints.map((raw) => {
      const object = normaliseEndpoints(raw, uids, options);
      return { ...named(object), service: textAt(object.metadata, 'name'), object };
    }),
    slices: state.endpointslices.map((raw) => {
      const object = normaliseSlice(raw, uids, options);
      return { ...named(object), service: labelOf(object, serviceNameLabel), object };
    }),
  };
}

export function labelOf(object: JsonObject, label: string): string {
  return textAt(objectAt(object.metadata, 'labels'), label);
}

function named(object: JsonObject): { readonly namespace: string } {
  return { namespace: textAt(object.metadata, 'namespace') };
}

/** What uids denote; undefined: they are kept. */
type Uids = ReadonlyMap<string, string> | undefined;

function uidsOf(state: ClusterState): ReadonlyMap<string, string> {
  const uids = new Map<string, string>();
  const add = (kind: string, objects: readonly JsonObject[]) => {
    for (const { metadata } of objects) {
      uids.set(textAt(metadata, 'uid'), `${kind}/${textAt(metadata, 'namespace')}/${textAt(metadata, 'name')}`);
    }
  };
  add('Service', state.services);
  add('Pod', state.pods);
  add('Endpoints', state.endpoints);
  return uids;
}

function normaliseEndpoints(raw: JsonObject, uids: Uids, options: NormaliseOptions): JsonObject {
  const object = stripped(raw, uids);
  const subsets = listAt(object, 'subsets').map((subset) => {
    if (!isObject(subset)) return subset;
    const sorted = (key: string) =>
      subset[key] === undefined ? {} : { [key]: sortedCanonically(listAt(subset, key)) };
    const ports = listAt(subset, 'ports').map((port) =>
      isObject(port) && port.name === '' ? without(port, 'name') : port,
    );
    return {
      ...sorted('addresses'),
      ...sorted('notReadyAddresses'),
      ...(ports.length > 0 && { ports }),
    };
  });
  return {
    metadata: normaliseMetadata(objectAt(object, 'metadata'), options),
    ...(subsets.length > 0 && { subsets: sortedCanonically(subsets) }),
  };
}

function normaliseSlice(raw: JsonObject, uids: Uids, options: NormaliseOptions): JsonObject {
  const object = stripped(raw, uids);
  const metadata = objectAt(object, 'metadata');
  const endpoints = sortedCanonically(listAt(object, 'endpoints'));
  const ports = listAt(object, 'ports');
  return {
    metadata: { ...normaliseMetadata(metadata, options), name: sliceName(metadata, options.userSlices) },
    addressType: textAt(object, 'addressType'),
    ...(ports.length > 0 && { ports }),
    ...(endpoints.length > 0 && { endpoints }),
  };
}

function normaliseMetadata(metadata: JsonObject, { triggerTime = 'keep' }: NormaliseOptions): JsonObject {
  const annotations = { ...objectAt(metadata, 'annotations') };
  if (triggerTime === 'drop') delete annotations[triggerTimeAnnotation];
  if (triggerTime === 'presence' && Object.hasOwn(annotations, triggerTimeAnnotation)) {
    annotations[triggerTimeAnnotation] = 'present';
  }
  return {
    ...without(metadata, 'annotations', ...droppedMetadata),
    ...(Object.keys(annotations).length > 0 && { annotations }),
    ...(textAt(metadata, 'deletionTimestamp') !== '' && { deleting: true }),
  };
}

/** A generated name becomes its beginning and an asterisk; one with a wrong beginning stays, and thus shows. */
function sliceName(metadata: JsonObject, userSlices: ReadonlySet<string> | undefined): string {
  const name = textAt(metadata, 'name');
  if (userSlices?.has(name)) return name;
  const owners = listAt(metadata, 'ownerReferences').map((owner) => `${textAt(owner, 'name')}-`);
  const bases = [
    textAt(metadata, 'generateName'),
    ...owners,
    `${textAt(objectAt(metadata, 'labels'), serviceNameLabel)}-`,
  ];
  for (const base of bases) {
    const prefix = base.slice(0, longestPrefix);
    if (prefix.length > 1 && name.startsWith(prefix)) return `${prefix}*`;
  }
  return name;
}

/** Drops nulls and empty optional members, and replaces uids by what they denote. */
function stripped(value: JsonObject, uids: Uids): JsonObject {
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
