import type { EndpointSlice, Endpoints, Node, Pod, Service, StringMap } from '@sluice/controllers';
import type { Resource } from '@sluice/kubernetes';

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
