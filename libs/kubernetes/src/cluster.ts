import type { Controller, EndpointSlice, Endpoints, WrittenResource } from '@sluice/model';
import { asRecord } from '@sluice/platform';

/** The resources that Sluice watches. */
export type Resource = 'services' | 'pods' | 'nodes' | 'endpoints' | 'endpointslices';
export const watchedResources: readonly Resource[] = ['services', 'pods', 'nodes', 'endpoints', 'endpointslices'];

/** An object as the API server sends it, parsed but not validated. */
export type RawObject = Readonly<Record<string, unknown>>;

export interface ListPage {
  readonly items: readonly RawObject[];
  readonly resourceVersion: string;
  /** Empty on the last page. */
  readonly continueToken: string;
}

export interface ListOptions {
  /** Objects per page; a server may send more. */
  readonly limit: number;
  /** From the previous page; empty for the first. */
  readonly continueToken: string;
  /**
   * Receives each object as soon as it is parsed, so that the page is never held as a whole. The page's items then omit the
   * objects that it received. A reader may ignore it and return all objects as items.
   */
  readonly onItem?: (object: RawObject) => void;
}

export type WatchEvent<T = RawObject> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: T }
  /** All events up to this version have been sent. `initialEventsEnd` marks the end of the initial events of a WatchList. */
  | { readonly type: 'BOOKMARK'; readonly resourceVersion: string; readonly initialEventsEnd?: true };

export interface WatchOptions {
  /**
   * WatchList (KEP-3157): starts with an ADDED for each existing object, as of the given resourceVersion or later, and a
   * bookmark with `initialEventsEnd`. A server that does not support it answers with a terminal ApiError. Only for readers
   * with `watchList`.
   */
  readonly sendInitialEvents?: boolean;
  /** Called for each malformed object that the watch skips. */
  readonly onSkipped?: (skipped: SkippedObject) => void;
}

/** A malformed object that is skipped. */
export interface SkippedObject {
  readonly resource: Resource;
  readonly namespace: string;
  /** Empty if unknown. */
  readonly name: string;
  readonly why: string;
}

/**
 * Port for reading a cluster. Failures are ApiErrors. Add behaviour as a Middleware rather than as another implementation,
 * which could lose a capability.
 */
export interface ClusterReader {
  /** Whether `watch` implements `sendInitialEvents`. The server may still not support it. */
  readonly watchList: boolean;
  /** The resources that are watched with it. Default: all. */
  readonly resources?: ReadonlySet<Resource> | undefined;
  /** The namespaces whose objects it reads. Default: all. */
  readonly namespaces?: NamespaceScope | undefined;
  /** Resolves if the API server answers a small request, whatever its answer; else rejects soon. Absent: unknown. */
  readonly ping?: (signal: AbortSignal) => Promise<void>;
  /** uid of the namespace kube-system, which identifies the cluster. */
  identity(signal: AbortSignal): Promise<string>;
  /** One page, at most `limit` items, consistent with the first page's resourceVersion. */
  list(resource: Resource, options: ListOptions, signal: AbortSignal): Promise<ListPage>;
  /**
   * Events after `resourceVersion`, in batches as they arrive. Ends without error when the server closes the watch or
   * `signal` aborts. A batch may be empty, e.g. the first one, which only reports that the watch is open.
   */
  watch(
    resource: Resource,
    resourceVersion: string,
    signal: AbortSignal,
    options?: WatchOptions,
  ): AsyncIterable<readonly WatchEvent[]>;
}

/** The resources that are watched with this reader. */
export const resourcesOfReader = ({ resources }: Pick<ClusterReader, 'resources'>): readonly Resource[] =>
  watchedResources.filter((resource) => resources?.has(resource) !== false);

/** Metadata that the API server returns for a stored object. */
export interface WrittenMeta {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation: number;
  /** RFC 3339; absent if the server does not return it. */
  readonly creationTimestamp?: string;
}

/**
 * Port for reading and writing single objects. Failures are ApiErrors, or what `beforeSend` threw. Add behaviour as a Middleware.
 */
export interface ClusterWriter {
  /** The client under the identity of a controller, for audit logs (A1). Default: this client. */
  readonly forController?: (controller: Controller) => ClusterWriter;
  /** A quorum read of the object. `namespace` is empty for a Node. */
  get(
    resource: Resource,
    namespace: string,
    name: string,
    signal: AbortSignal,
    beforeSend?: BeforeSend,
  ): Promise<RawObject>;
  create(
    resource: WrittenResource,
    object: Endpoints | EndpointSlice,
    signal: AbortSignal,
    beforeSend?: BeforeSend,
  ): Promise<WrittenMeta>;
  /** Replaces the object; `metadata.resourceVersion`, if given, is the precondition. */
  update(
    resource: WrittenResource,
    object: Endpoints | EndpointSlice,
    signal: AbortSignal,
    beforeSend?: BeforeSend,
  ): Promise<WrittenMeta>;
  /** Returns the object if finalizers hold its deletion back; undefined if it is gone. */
  delete(
    resource: WrittenResource,
    namespace: string,
    name: string,
    preconditions: { uid?: string; resourceVersion?: string },
    signal: AbortSignal,
    beforeSend?: BeforeSend,
  ): Promise<RawObject | undefined>;
}

/**
 * Called right before a request is written to a connection, each time it is, which may be long after it was queued for one, for a
 * credential or for a claim. Throws if the request must not be sent any more; the request then fails with this error.
 */
export type BeforeSend = () => void;

/** Wraps what a BeforeSend threw, so that it is not taken for a failure of the connection. */
export class NotSentError extends Error {
  override readonly name = 'NotSentError';
}

/** The namespaces of a cluster that a process serves. Objects without a namespace always belong to it. Default: all. */
export interface NamespaceScope {
  readonly only?: readonly string[] | undefined;
  readonly except?: readonly string[] | undefined;
}

export function includesNamespace(scope: NamespaceScope | undefined, namespace: string): boolean {
  if (scope === undefined || namespace === '') return true;
  if (scope.only !== undefined && !scope.only.includes(namespace)) return false;
  return scope.except?.includes(namespace) !== true;
}

/**
 * The object that a deletion has returned, if it stays until its finalizers are removed. API servers return a deleted object in its
 * last state, or a Status.
 */
export function heldBack(object: RawObject): RawObject | undefined {
  const { deletionTimestamp, finalizers } = asRecord(object.metadata);
  return deletionTimestamp !== undefined && Array.isArray(finalizers) && finalizers.length > 0 ? object : undefined;
}
