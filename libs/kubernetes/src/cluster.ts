import type { EndpointSlice, Endpoints, WrittenResource } from '@sluice/controllers';

/** The resources that Sluice watches. */
export type Resource = 'services' | 'pods' | 'nodes' | 'endpoints' | 'endpointslices';
export const watchedResources: readonly Resource[] = ['services', 'pods', 'nodes', 'endpoints', 'endpointslices'];

/** An object as the API server sends it, parsed but not yet looked at. */
export type RawObject = Readonly<Record<string, unknown>>;

export interface ListPage {
  readonly items: readonly RawObject[];
  readonly resourceVersion: string;
  /** Empty on the last page. */
  readonly continueToken: string;
}

export interface ListOptions {
  /** Objects a page; a server may send more. */
  readonly limit: number;
  /** Of the page before; empty for the first. */
  readonly continueToken: string;
  /**
   * Takes each object as soon as it is parsed, so that the page need not be held whole. What it was given is not among the
   * page's items. A reader that cannot do so gives all of them there.
   */
  readonly onItem?: (object: RawObject) => void;
}

export type WatchEvent<T = RawObject> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: T }
  /** All events up to this version have been sent; `initialEventsEnd` closes those that `sendInitialEvents` asked for. */
  | { readonly type: 'BOOKMARK'; readonly resourceVersion: string; readonly initialEventsEnd?: true };

export interface WatchOptions {
  /**
   * First an ADDED for each object there is, as of now or, if a version is given, of any time since then; after them a
   * bookmark with `initialEventsEnd` (WatchList). A server that does not know it refuses with a terminal ApiError; a
   * reader that does not know it must not be asked.
   */
  readonly sendInitialEvents?: boolean;
}

/**
 * Reading side of a cluster, as a port. Implementations: HTTP, and the simulated API server in the same process.
 * Failures are thrown as ApiError; `Gone` (410) is one of its reasons.
 */
export interface ClusterReader {
  /** It passes `sendInitialEvents` on; whether the server knows it shows when it is asked. */
  readonly watchList?: boolean;
  /** uid of the namespace kube-system: the identity of the cluster, whatever it is called. */
  identity(signal: AbortSignal): Promise<string>;
  /** One page, at most `limit` items, consistent with the first page's resourceVersion. */
  list(resource: Resource, options: ListOptions, signal: AbortSignal): Promise<ListPage>;
  /**
   * Events after `resourceVersion`, in batches as they arrive. Ends without error when the server closes the watch or
   * `signal` aborts. A batch may be empty: the first one, for instance, when all it has to tell is that the watch is open.
   */
  watch(
    resource: Resource,
    resourceVersion: string,
    signal: AbortSignal,
    options?: WatchOptions,
  ): AsyncIterable<readonly WatchEvent[]>;
}

/** What the API server tells of an object that it stored. */
export interface WrittenMeta {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation: number;
}

/** Writing side of a cluster, as a port. Every failure is an ApiError. */
export interface ClusterWriter {
  /** The object as it is stored now, never a cache's. `namespace` is empty for a Node. */
  get(resource: Resource, namespace: string, name: string, signal: AbortSignal): Promise<RawObject>;
  create(resource: WrittenResource, object: Endpoints | EndpointSlice, signal: AbortSignal): Promise<WrittenMeta>;
  /** Replaces the object; `metadata.resourceVersion`, if given, is the precondition. */
  update(resource: WrittenResource, object: Endpoints | EndpointSlice, signal: AbortSignal): Promise<WrittenMeta>;
  delete(
    resource: WrittenResource,
    namespace: string,
    name: string,
    preconditions: { uid?: string; resourceVersion?: string },
    signal: AbortSignal,
  ): Promise<void>;
}
