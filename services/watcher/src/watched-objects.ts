import { controllerManaging } from '@sluice/controllers';
import type { RawObject, Resource } from '@sluice/kubernetes';
import {
  type EndpointSlice,
  type Endpoints,
  MalformedObjectError,
  managedByLabel,
  type Node,
  type Pod,
  type PodDetails,
  projectEndpointSlice,
  projectEndpoints,
  projectNode,
  projectNodeCondition,
  projectPod,
  projectPodDetails,
  projectPodReasons,
  projectService,
  type Service,
  type StringMap,
  serviceNameLabel,
} from '@sluice/model';
import { asRecord, errorMessage, exceededLimit, objectLimits } from '@sluice/platform';

/** A projected Pod with the labels that Service selectors match. */
export interface WatchedPod {
  readonly pod: Pod;
  readonly labels: StringMap;
}

/** What the indexer keeps of an object, by resource. */
export interface WatchedObjects {
  readonly services: Service;
  readonly pods: WatchedPod;
  readonly nodes: Node;
  readonly endpoints: Endpoints;
  readonly endpointslices: EndpointSlice;
}

/** `namespace/name` of a namespaced object; `/name` of a Node. */
export type ObjectName = string;

export const objectName = (namespace: string, name: string): ObjectName => `${namespace}/${name}`;

export function parseObjectName(text: ObjectName): { readonly namespace: string; readonly name: string } {
  const [namespace = '', name = ''] = text.split('/');
  return { namespace, name };
}

/** The Service that owns the slice, or undefined if the controllers do not manage the slice (E4, E5). */
export function serviceOfSlice(slice: Pick<EndpointSlice, 'metadata'>): ObjectName | undefined {
  const labels = slice.metadata.labels;
  const service = labels?.[serviceNameLabel];
  if (!service || !controllerManaging(labels?.[managedByLabel])) return undefined;
  return objectName(slice.metadata.namespace, service);
}

/** One object of a list or watch, reduced to the fields that Sluice uses. */
export interface DecodedObject<R extends Resource = Resource> {
  readonly namespace: string;
  readonly name: string;
  readonly resourceVersion: string;
  /** Undefined if the object exists but cannot be decoded; the indexer then keeps the last valid version. */
  readonly object: WatchedObjects[R] | undefined;
  /** The Service of an EndpointSlice that cannot be decoded, as `serviceOfSlice`. */
  readonly service?: ObjectName | undefined;
  /** Field manager of the last write to an EndpointSlice or Endpoints, for people; empty if it is Sluice or unknown. */
  readonly manager?: string;
  /** Whether that field manager is Sluice; not set if it is unknown. */
  readonly isOwnWrite?: boolean;
}

/**
 * Projects an object as soon as it is parsed, so that the raw object can be freed. An object that cannot be decoded, for
 * whatever reason, is reported to `onMalformed` and keeps its name: it exists, and its deletion must be recognised.
 *
 * @throws TypeError if it has a name that no API server stores
 */
export function decodeObject<R extends Resource>(
  resource: R,
  raw: RawObject,
  onMalformed: (reason: string) => void,
  { isRecorded = false }: { readonly isRecorded?: boolean | undefined } = {},
): DecodedObject<R> {
  const metadata = (raw.metadata ?? {}) as Readonly<Record<string, unknown>>;
  const text = (value: unknown) => (typeof value === 'string' ? value : '');
  const identity = {
    namespace: text(metadata.namespace),
    name: text(metadata.name),
    resourceVersion: text(metadata.resourceVersion),
  };
  checkIdentity(resource, { ...identity, uid: metadata.uid, labels: metadata.labels });
  try {
    const object = (isRecorded ? recordedProjections : projections)[resource](raw);
    if (identity.resourceVersion === '') throw new TypeError('it has no resourceVersion');
    // Slices and Endpoints are kept and sent whole; encoding a deeper one would exhaust the stack.
    const exceeded = exceededLimit(object, objectLimits);
    if (exceeded !== undefined) throw new TypeError(exceeded);
    const isWritten = resource === 'endpointslices' || resource === 'endpoints';
    const manager = isWritten ? lastManager(metadata.managedFields) : '';
    if (manager === ownManager) return { ...identity, object, isOwnWrite: true };
    return manager === '' ? { ...identity, object } : { ...identity, object, manager };
  } catch (error) {
    const isNamed = error instanceof MalformedObjectError;
    onMalformed(isNamed ? error.message : `${identity.namespace}/${identity.name}: ${errorMessage(error)}`);
    if (resource !== 'endpointslices') return { ...identity, object: undefined };
    const labels = asRecord(metadata.labels) as StringMap;
    return { ...identity, object: undefined, service: serviceOfSlice({ metadata: { ...identity, labels } }) };
  }
}

/** Sluice's field manager (`fieldManager`). */
const ownManager = 'sluice';

/** Times have a resolution of a second; of two writes in one second, the one of another manager is named. */
function lastManager(managedFields: unknown): string {
  let last = { manager: '', time: '' };
  for (const entry of Array.isArray(managedFields) ? managedFields : []) {
    const { manager, time } = (entry ?? {}) as { readonly manager?: unknown; readonly time?: unknown };
    if (typeof manager !== 'string' || typeof time !== 'string' || time < last.time) continue;
    if (time > last.time || last.manager === ownManager) last = { manager, time };
  }
  return last.manager;
}

type Projections = { readonly [R in Resource]: (raw: RawObject) => WatchedObjects[R] };

const projections: Projections = {
  services: projectService,
  pods: (raw) => podWith(raw, projectPodReasons(raw)),
  nodes: (raw) => nodeWith(raw, projectNodeCondition(raw) || undefined),
  endpoints: projectEndpoints,
  endpointslices: projectEndpointSlice,
};

const recordedProjections: Projections = {
  ...projections,
  pods: (raw) => podWith(raw, projectPodDetails(raw)),
  nodes: (raw) => nodeWith(raw, projectNodeCondition(raw)),
};

function podWith(raw: RawObject, details: PodDetails | undefined): WatchedPod {
  const projected = projectPod(raw);
  return details === undefined ? projected : { ...projected, pod: { ...projected.pod, details } };
}

function nodeWith(raw: RawObject, condition: string | undefined): Node {
  const node = projectNode(raw);
  return condition === undefined ? node : { ...node, condition };
}

/** Limits of Kubernetes for names and namespaces. Those of Services are shorter, but mirrored Endpoints need no Service of their name. */
const [longestName, longestNamespace] = [253, 63];

/** Characters of a DNS subdomain (RFC 1123). */
const subdomain = /^[a-z0-9][a-z0-9.-]*$/;

interface Identity {
  readonly namespace: string;
  readonly name: string;
  readonly resourceVersion: string;
  readonly uid: unknown;
  readonly labels: unknown;
}

/**
 * Names become keys, ids and headers of messages, so none enters that Kubernetes does not accept.
 *
 * @throws TypeError if no API server stores such an object
 */
export function checkIdentity(resource: Resource, { namespace, name, resourceVersion, uid, labels }: Identity): void {
  checkName('metadata.name', name, longestName);
  if (resource !== 'nodes') checkName('metadata.namespace', namespace, longestNamespace);
  if (resourceVersion.length > 64)
    throw new TypeError(`metadata.resourceVersion has ${resourceVersion.length} characters`);
  if (uid !== undefined && uid !== null && !(typeof uid === 'string' && /^[\w.:-]{0,128}$/.test(uid)))
    throw new TypeError('metadata.uid is not a string of at most 128 characters');
  // The Service to which a slice belongs.
  const service = resource === 'endpointslices' ? asRecord(labels)[serviceNameLabel] : undefined;
  if (typeof service === 'string' && !/^[\w.-]{0,253}$/.test(service))
    throw new TypeError(`the label ${serviceNameLabel} is not the name of a Service`);
}

function checkName(field: string, name: string, limit: number): void {
  if (name.length > limit) throw new TypeError(`${field} has ${name.length} characters, more than ${limit}`);
  if (!subdomain.test(name)) throw new TypeError(`${field} is not a name of Kubernetes`);
}

/** An object was added, modified or deleted, according to a watch event or a list. */
export type ObjectEvent<R extends Resource = Resource> = {
  [K in R]: {
    readonly resource: K;
    readonly type: 'added' | 'modified' | 'deleted';
    /** Empty for Nodes. */
    readonly namespace: string;
    readonly name: string;
    /** Undefined if the object was added, or deleted before a valid version of it was seen. */
    readonly oldObject: WatchedObjects[K] | undefined;
    /** Undefined if the object was deleted. */
    readonly newObject: WatchedObjects[K] | undefined;
    /** As in `DecodedObject`. */
    readonly manager?: string | undefined;
    /** As in `DecodedObject`. */
    readonly isOwnWrite?: boolean | undefined;
    /** The object was deleted before a valid version of it was seen. */
    readonly wasUndecodable?: boolean;
    /** The Service of a slice of which no valid version was seen before. */
    readonly undecodableOf?: ObjectName | undefined;
    /** When the watcher received it, in milliseconds since the Unix epoch. */
    readonly observedAt: number;
  };
}[R];

/** One line for people: `Pod shop/cart-x7 became ready`. It becomes the description of a Cause. */
export function describeEvent(event: ObjectEvent): string {
  const { resource, namespace, name } = event;
  return `${kinds[resource]} ${namespace === '' ? name : `${namespace}/${name}`} ${describeChange(event)}`;
}

const kinds: Readonly<Record<Resource, string>> = {
  services: 'Service',
  pods: 'Pod',
  nodes: 'Node',
  endpoints: 'Endpoints',
  endpointslices: 'EndpointSlice',
};

function describeChange(event: ObjectEvent): string {
  switch (event.resource) {
    case 'pods':
      return describePodChange(event.oldObject?.pod, event.newObject?.pod);
    case 'nodes':
      // Neither is known of a Node that cannot be decoded.
      return event.oldObject === event.newObject ? event.type : describeNodeChange(event.oldObject, event.newObject);
    default:
      return event.type === 'modified' ? 'changed' : event.type;
  }
}

/** Names the first difference that affects the Pod's endpoints. */
function describePodChange(old: Pod | undefined, next: Pod | undefined): string {
  if (next === undefined) return 'deleted';
  if (old === undefined) return next.ready ? 'added, ready' : 'added';
  if (old.uid !== next.uid) return 'replaced by another of the same name';
  if (!old.terminating && next.terminating) return 'is terminating';
  if (!old.terminal && next.terminal) return 'finished';
  if (!old.ready && next.ready) return 'became ready';
  if (old.ready && !next.ready) return 'became not ready';
  if (old.ips.join() !== next.ips.join()) return `got address ${next.ips.join(', ') || 'none'}`;
  if (old.nodeName !== next.nodeName) return `was bound to Node ${next.nodeName}`;
  return 'changed';
}

function describeNodeChange(old: Node | undefined, next: Node | undefined): string {
  if (next === undefined) return 'deleted';
  if (old === undefined) return 'added';
  if (old.zone !== next.zone) return `moved to zone ${next.zone || 'none'}`;
  if (old.ready !== next.ready) return next.ready ? 'became ready' : `became ${next.condition || 'not ready'}`;
  if (old.condition !== next.condition) return `is ${next.condition || 'schedulable'}`;
  return 'changed';
}
