import type { EndpointSlice, Endpoints, WrittenResource } from '@sluice/model';
import type { BeforeSend } from './before-send.ts';
import type { ListOptions, ListPage, RawObject, Resource, WatchEvent, WatchOptions, WrittenMeta } from './cluster.ts';

interface Requests {
  identity: object;
  list: { readonly resource: Resource; readonly options: ListOptions };
  watch: { readonly resource: Resource; readonly resourceVersion: string; readonly options: WatchOptions };
  get: { readonly resource: Resource; readonly namespace: string; readonly name: string };
  create: { readonly resource: WrittenResource; readonly object: Endpoints | EndpointSlice };
  update: { readonly resource: WrittenResource; readonly object: Endpoints | EndpointSlice };
  delete: {
    readonly resource: WrittenResource;
    readonly namespace: string;
    readonly name: string;
    readonly preconditions: { uid?: string; resourceVersion?: string };
  };
}

export interface Responses {
  identity: string;
  list: ListPage;
  watch: WatchStream;
  get: RawObject;
  create: WrittenMeta;
  update: WrittenMeta;
  delete: RawObject | undefined;
}

export type Verb = keyof Requests;
export type WatchStream = AsyncIterable<readonly WatchEvent[]>;

export type RequestOf<V extends Verb> = Requests[V] & {
  readonly verb: V;
  readonly signal: AbortSignal;
  /** As of ApiRequest. */
  readonly beforeSend?: BeforeSend | undefined;
};

/** A call of ClusterReader or ClusterWriter as a value. */
export type ClusterRequest = { [V in Verb]: RequestOf<V> }[Verb];

/** What the call returns. The stream of a watch may still fail while it is read. */
export type ResponseTo<R extends ClusterRequest> = Responses[R['verb']];

/** Whether the request changes the cluster. */
export function isWrite({ verb }: ClusterRequest): boolean {
  return verb === 'create' || verb === 'update' || verb === 'delete';
}
