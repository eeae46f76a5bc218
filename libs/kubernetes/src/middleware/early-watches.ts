import {
  type ClusterReader,
  type Resource,
  type SkippedObject,
  type WatchEvent,
  type WatchOptions,
  watchedResources,
} from '../cluster.ts';
import type { ClusterRequest, RequestOf, ResponseTo, WatchStream } from '../cluster-request.ts';
import type { Middleware } from '../middleware.ts';

interface EarlyWatch {
  readonly batches: AsyncIterator<readonly WatchEvent[]>;
  readonly first: Promise<IteratorResult<readonly WatchEvent[]>>;
  readonly abort: AbortController;
  readonly skipped: SkippedObjects;
}

/** Keeps what a watch skips until a reflector takes the watch over. */
class SkippedObjects {
  readonly #objects: SkippedObject[] = [];
  #report = (object: SkippedObject): void => void this.#objects.push(object);

  add(object: SkippedObject): void {
    this.#report(object);
  }

  reportTo(onSkipped: (object: SkippedObject) => void): void {
    this.#report = onSkipped;
    for (const object of this.#objects.splice(0)) onSkipped(object);
  }
}

/**
 * Opens a WatchList of each resource before anyone requests it, so that the API server collects the initial events while the
 * preflight checks run or the lease of another watcher expires. It reads only the first batch of each until the reflector takes the watch over.
 */
export class EarlyWatches {
  readonly #watches = new Map<Resource, EarlyWatch>();

  /** `signal` closes the watches that nobody has taken over. */
  constructor(reader: ClusterReader, signal: AbortSignal) {
    for (const resource of watchedResources) {
      const abort = new AbortController();
      signal.addEventListener('abort', () => this.#watches.delete(resource) && abort.abort(), { once: true });
      const skipped = new SkippedObjects();
      const onSkipped = (object: SkippedObject) => skipped.add(object);
      const watch = reader.watch(resource, '', abort.signal, { sendInitialEvents: true, onSkipped });
      const batches = watch[Symbol.asyncIterator]();
      const first = batches.next();
      // The reflector that takes the watch over sees the failure.
      first.catch(() => {});
      this.#watches.set(resource, { batches, first, abort, skipped });
    }
  }

  /** Answers the first WatchList of each resource with the early watch. */
  readonly middleware: Middleware = async (request, next) => {
    if (!isWatch(request)) return next(request);
    const { resource, options, signal } = request;
    const early = this.#watches.get(resource);
    this.#watches.delete(resource);
    // The reflector rejects initial events that are older than the resourceVersion it has requested.
    if (early !== undefined && options.sendInitialEvents === true) {
      return takeOver(early, options, signal) as ResponseTo<typeof request>;
    }
    early?.abort.abort();
    return next(request);
  };
}

function isWatch<R extends ClusterRequest>(request: R): request is R & RequestOf<'watch'> {
  return request.verb === 'watch';
}

async function* takeOver(early: EarlyWatch, { onSkipped }: WatchOptions, signal: AbortSignal): WatchStream {
  const { batches, first, abort, skipped } = early;
  skipped.reportTo(onSkipped ?? (() => {}));
  const close = () => abort.abort();
  signal.addEventListener('abort', close, { once: true });
  if (signal.aborted) close();
  try {
    for (let next = await first; next.done !== true; next = await batches.next()) yield next.value;
  } finally {
    signal.removeEventListener('abort', close);
    close();
    await batches.return?.();
  }
}
