import type { Controller } from '@sluice/model';
import type { ClusterReader, ClusterWriter } from './cluster.ts';
import type { ClusterRequest, RequestOf, Responses, ResponseTo, Verb, WatchStream } from './cluster-request.ts';

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
