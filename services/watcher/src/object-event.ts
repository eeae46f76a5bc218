import type { Resource } from '@sluice/kubernetes';
import type { EndpointSlice, Endpoints, Node, Pod, Service, StringMap } from '@sluice/model';

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

/** `namespace/name` of a namespaced object; `/name` of a Node. */
export type ObjectName = string;

export const objectName = (namespace: string, name: string): ObjectName => `${namespace}/${name}`;

export function parseObjectName(text: ObjectName): { readonly namespace: string; readonly name: string } {
  const [namespace = '', name = ''] = text.split('/');
  return { namespace, name };
}

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
  if (old.ready !== next.ready) return next.ready ? 'became ready' : 'became not ready';
  return 'changed';
}
