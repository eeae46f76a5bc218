import { metadataForm, nameForm, serviceNameLabel, stripped, type Uids, withoutEmptyName } from './form.ts';
import {
  isObject,
  type Json,
  type JsonObject,
  listAt,
  objectAt,
  objectIn,
  sortedCanonically,
  textAt,
  without,
} from './json.ts';

/** The objects of a cluster, as its API server lists them. */
export interface ClusterState {
  readonly services: readonly JsonObject[];
  readonly pods: readonly JsonObject[];
  readonly endpoints: readonly JsonObject[];
  readonly endpointslices: readonly JsonObject[];
}

export interface NormaliseOptions {
  /**
   * How to treat the annotation with the trigger time. `drop` if several changes may be in one write on one side and in
   * two on the other. Default `keep`.
   */
  readonly triggerTime?: 'keep' | 'presence' | 'drop';
  /** Slice names chosen by users; all other names are generated. */
  readonly userSlices?: ReadonlySet<string>;
  /** Keeps uids, to compare states of the same cluster. By default they are replaced by the names of their objects. */
  readonly keepUids?: boolean;
  /** Ignores the order of ports, which is another one before Kubernetes 1.35. */
  readonly anyPortOrder?: boolean;
}

/** Endpoints or an EndpointSlice in a form that is equal in two clusters if it has the same meaning. */
export interface Normalised {
  readonly namespace: string;
  /** The name of its Service, from its own name or the label of a slice; may be empty. */
  readonly service: string;
  readonly object: JsonObject;
}

export const triggerTimeAnnotation = 'endpoints.kubernetes.io/last-change-trigger-time';
export const managedByLabel = 'endpointslice.kubernetes.io/managed-by';

/**
 * Normalises the Endpoints and EndpointSlices of a cluster for the comparison of two clusters: replaces uids by the
 * names of their objects and sorts lists whose order depends on uids (subsets and their addresses: D25, L4).
 */
export function normalise(
  state: ClusterState,
  options: NormaliseOptions = {},
): { readonly endpoints: readonly Normalised[]; readonly slices: readonly Normalised[] } {
  const uids = options.keepUids ? undefined : uidsOf(state);
  const ordered = (object: JsonObject) => (options.anyPortOrder ? objectIn(withoutHashOrder(object)) : object);
  return {
    endpoints: state.endpoints.map((raw) => {
      const object = normaliseEndpoints(ordered(raw), uids, options);
      return { ...named(object), service: textAt(object.metadata, 'name'), object };
    }),
    slices: state.endpointslices.map((raw) => {
      const object = normaliseSlice(ordered(raw), uids, options);
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
    const ports = listAt(subset, 'ports').map(withoutEmptyName);
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
    metadata: { ...normaliseMetadata(metadata, options), name: nameForm(metadata, options.userSlices) },
    addressType: textAt(object, 'addressType'),
    ...(ports.length > 0 && { ports }),
    ...(endpoints.length > 0 && { endpoints }),
  };
}

function normaliseMetadata(metadata: JsonObject, { triggerTime = 'keep' }: NormaliseOptions): JsonObject {
  const meant = metadataForm(metadata);
  const annotations = { ...objectAt(meant, 'annotations') };
  if (triggerTime === 'drop') delete annotations[triggerTimeAnnotation];
  if (triggerTime === 'presence' && Object.hasOwn(annotations, triggerTimeAnnotation)) {
    annotations[triggerTimeAnnotation] = 'present';
  }
  return {
    ...without(meant, 'annotations'),
    ...(Object.keys(annotations).length > 0 && { annotations }),
  };
}

/** Lists whose order derives from the hashes of ports. */
const hashOrdered = new Set(['ports', 'subsets']);

/**
 * Sorts the ports of slices, and the ports and subsets of Endpoints. Upstream sorts them by a hash, which is MD5 before
 * Kubernetes 1.35 and FNV since.
 */
export function withoutHashOrder(value: Json): Json {
  if (Array.isArray(value)) return value.map((element: Json) => withoutHashOrder(element));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => {
      const inner = withoutHashOrder(member);
      return [key, Array.isArray(inner) && hashOrdered.has(key) ? sortedCanonically(inner as readonly Json[]) : inner];
    }),
  );
}
