import { asRecord, asString } from '@sluice/platform';
import { ApiError } from '../api-error.ts';
import {
  type ClusterReader,
  type ClusterWriter,
  includesNamespace,
  type ListOptions,
  type ListPage,
  type NamespaceScope,
  type RawObject,
  type WatchEvent,
} from '../cluster.ts';
import {
  type ClusterRequest,
  chainReader,
  chainWriter,
  type Middleware,
  mapWatch,
  type ResponseTo,
  type Send,
  type WatchStream,
} from '../middleware.ts';

/** `reader` without the objects of other namespaces. */
export function scopeReader(reader: ClusterReader, namespaces: NamespaceScope): ClusterReader {
  return { ...chainReader(reader, scopeNamespaces(namespaces)), namespaces };
}

/** `writer` that rejects requests for other namespaces with a terminal ApiError, which parks the Service. */
export function scopeWriter(writer: ClusterWriter, namespaces: NamespaceScope): ClusterWriter {
  return chainWriter(writer, scopeNamespaces(namespaces));
}

function scopeNamespaces(scope: NamespaceScope): Middleware {
  const isIncluded = (object: RawObject) => includesNamespace(scope, asString(asRecord(object.metadata).namespace));
  return async <R extends ClusterRequest>(request: R, next: Send): Promise<ResponseTo<R>> => {
    switch (request.verb) {
      case 'identity':
        return next(request);
      case 'list': {
        const options = scopedOptions(request.options, isIncluded);
        return scopedPage(await next({ ...request, options }), isIncluded);
      }
      case 'watch':
        return mapWatch(request, await next(request), (stream) => scopedStream(stream, isIncluded));
      default: {
        const namespace = 'object' in request ? request.object.metadata.namespace : request.namespace;
        if (!includesNamespace(scope, namespace)) throw outOfScope(namespace);
        return next(request);
      }
    }
  };
}

function scopedOptions(options: ListOptions, isIncluded: (object: RawObject) => boolean): ListOptions {
  const { onItem } = options;
  if (onItem === undefined) return options;
  return { ...options, onItem: (object) => isIncluded(object) && onItem(object) };
}

function scopedPage<R extends ClusterRequest>(
  response: ResponseTo<R>,
  isIncluded: (object: RawObject) => boolean,
): ResponseTo<R> {
  const page = response as ListPage;
  const scoped: ListPage = { ...page, items: page.items.filter(isIncluded) };
  // TypeScript does not narrow ResponseTo<R> by the verb of R.
  return scoped as ResponseTo<R>;
}

async function* scopedStream(stream: WatchStream, isIncluded: (object: RawObject) => boolean): WatchStream {
  const isRelevant = (event: WatchEvent) => event.type === 'BOOKMARK' || isIncluded(event.object);
  for await (const events of stream) yield events.filter(isRelevant);
}

function outOfScope(namespace: string): ApiError {
  const message = `namespace ${namespace} is not served by this process; see --namespaces and --exclude-namespaces`;
  return new ApiError(message, { kind: 'terminal', status: 0, reason: 'NamespaceNotServed' });
}
