import type { Controller, EndpointSlice, Endpoints, WrittenResource } from '@sluice/model';
import { isApiError } from './api-error.ts';
import type {
  BeforeSend,
  ClusterReader,
  ClusterWriter,
  ListOptions,
  ListPage,
  RawObject,
  Resource,
  WatchEvent,
  WatchOptions,
  WrittenMeta,
} from './cluster.ts';

/** Passes a request on to the next middleware or, from the last one, to the cluster. */
export type Send = <R extends ClusterRequest>(request: R) => Promise<ResponseTo<R>>;

/**
 * One step of the chain that every request to a cluster passes: it may delay, observe, repeat, answer or reject a request,
 * and calls `next` to pass it on. A failure of the cluster is an ApiError.
 */
export type Middleware = <R extends ClusterRequest>(request: R, next: Send) => Promise<ResponseTo<R>>;

/** `reader` behind `middleware`. The first middleware is the outermost: it sees a request first and its response last. */
export function chainReader(reader: ClusterReader, ...middleware: readonly Middleware[]): ClusterReader {
  const send = chain(middleware, {
    identity: ({ signal }) => reader.identity(signal),
    list: ({ resource, options, signal }) => reader.list(resource, options, signal),
    watch: async ({ resource, resourceVersion, options, signal }) =>
      reader.watch(resource, resourceVersion, signal, options),
  });
  return {
    watchList: reader.watchList,
    ...(reader.resources !== undefined && { resources: reader.resources }),
    ...(reader.namespaces !== undefined && { namespaces: reader.namespaces }),
    ...(reader.ping !== undefined && { ping: reader.ping }),
    identity: (signal) => send({ verb: 'identity', signal }),
    list: (resource, options, signal) => send({ verb: 'list', resource, options, signal }),
    async *watch(resource, resourceVersion, signal, options = {}) {
      yield* await send({ verb: 'watch', resource, resourceVersion, options, signal });
    },
  };
}

/** `writer` behind `middleware`, the outermost first. */
export function chainWriter(writer: ClusterWriter, ...middleware: readonly Middleware[]): ClusterWriter {
  const send = chain(middleware, {
    get: ({ resource, namespace, name, signal, beforeSend }) =>
      writer.get(resource, namespace, name, signal, beforeSend),
    create: ({ resource, object, signal, beforeSend }) => writer.create(resource, object, signal, beforeSend),
    update: ({ resource, object, signal, beforeSend }) => writer.update(resource, object, signal, beforeSend),
    delete: ({ resource, namespace, name, preconditions, signal, beforeSend }) =>
      writer.delete(resource, namespace, name, preconditions, signal, beforeSend),
  });
  const { forController } = writer;
  return {
    ...(forController && {
      forController: once((controller) => chainWriter(forController(controller), ...middleware)),
    }),
    get: (resource, namespace, name, signal, beforeSend) =>
      send({ verb: 'get', resource, namespace, name, signal, beforeSend }),
    create: (resource, object, signal, beforeSend) => send({ verb: 'create', resource, object, signal, beforeSend }),
    update: (resource, object, signal, beforeSend) => send({ verb: 'update', resource, object, signal, beforeSend }),
    delete: (resource, namespace, name, preconditions, signal, beforeSend) =>
      send({ verb: 'delete', resource, namespace, name, preconditions, signal, beforeSend }),
  };
}

/** For middleware that observes or replaces the stream of a watch: maps it, and returns other responses unchanged. */
export function mapWatch<R extends ClusterRequest>(
  { verb }: R,
  response: ResponseTo<R>,
  map: (stream: WatchStream) => WatchStream,
): ResponseTo<R> {
  // TypeScript does not narrow ResponseTo<R> by the verb of R.
  return verb === 'watch' ? (map(response as WatchStream) as ResponseTo<R>) : response;
}

/** Calls `make` once per controller. */
export function once<T>(make: (controller: Controller) => T): (controller: Controller) => T {
  const made = new Map<Controller, T>();
  return (controller) => {
    const known = made.get(controller);
    if (known !== undefined) return known;
    const value = make(controller);
    made.set(controller, value);
    return value;
  };
}

type Handlers = { readonly [V in Verb]?: (request: RequestOf<V>) => Promise<Responses[V]> };

function chain(middleware: readonly Middleware[], handlers: Handlers): Send {
  const toCluster: Send = <R extends ClusterRequest>(request: R) => {
    const handle = handlers[request.verb] as ((request: R) => Promise<ResponseTo<R>>) | undefined;
    if (handle === undefined) throw new TypeError(`this chain does not send ${request.verb} requests`);
    return handle(request);
  };
  return middleware.reduceRight<Send>((next, step) => (request) => step(request, next), toCluster);
}

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

interface Responses {
  identity: string;
  list: ListPage;
  watch: WatchStream;
  get: RawObject;
  create: WrittenMeta;
  update: WrittenMeta;
  delete: RawObject | undefined;
}

type Verb = keyof Requests;
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

/** Whether a request may be sent. */
export interface RequestCheck {
  /** Asks a server, if that is due, before a request is queued. Rejects if the request must not be sent. */
  verify?(request: ClusterRequest): Promise<void> | undefined;
  /** Throws if the request must not be sent. */
  assert(request: ClusterRequest): void;
  /** Called with the error of a request that failed. */
  failed?(error: unknown): void;
}

/**
 * Asks the checks in their order, when a request is queued and again right before its bytes leave: it may wait for a connection
 * or a credential for longer than a lease lasts. Preconditions stop requests that are in flight by then.
 */
export function checkRequests(checks: readonly RequestCheck[]): Middleware {
  return async (request, next) => {
    const assertAll = () => {
      for (const check of checks) check.assert(request);
    };
    try {
      for (const check of checks) {
        const verified = check.verify?.(request);
        if (verified !== undefined) await verified;
        check.assert(request);
      }
      return await next({ ...request, beforeSend: bothBeforeSend(request.beforeSend, assertAll) });
    } catch (error) {
      for (const check of checks) check.failed?.(error);
      throw error;
    }
  };
}

/** The checks that a cluster has; their order is in `services/writer/src/may-write.ts`. */
export type ClusterChecks = Readonly<Partial<Record<'identity' | 'claim' | 'pause', RequestCheck>>>;

/** `status`: null on success, the HTTP status of a failure, or 0 if there was no response. */
type OnResponse = (verb: Exclude<Verb, 'identity'>, resource: Resource, status: number | null) => void;

/** Reports the response to each request for a resource. */
export function meterRequests(onResponse: OnResponse): Middleware {
  return async (request, next) => {
    try {
      const response = await next(request);
      if (request.verb !== 'identity') onResponse(request.verb, request.resource, null);
      return response;
    } catch (error) {
      if (request.verb !== 'identity' && isApiError(error)) onResponse(request.verb, request.resource, error.status);
      throw error;
    }
  };
}

export function bothBeforeSend(first: BeforeSend | undefined, second: BeforeSend): BeforeSend {
  if (first === undefined) return second;
  return () => {
    first();
    second();
  };
}
