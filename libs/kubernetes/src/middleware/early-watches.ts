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
  readonly batches: ReadAhead;
  readonly abort: AbortController;
  readonly skipped: SkippedObjects;
}

type Batch = IteratorResult<readonly WatchEvent[]>;

/** Reads batches before they are requested, until it has as many events as it may keep. */
class ReadAhead {
  readonly #source: AsyncIterator<readonly WatchEvent[]>;
  readonly #read: Promise<Batch>[] = [];
  #taken = false;

  constructor(source: AsyncIterator<readonly WatchEvent[]>, maxEvents: number) {
    this.#source = source;
    void this.#readAhead(maxEvents);
  }

  next(): Promise<Batch> {
    this.#taken = true;
    return this.#read.shift() ?? this.#source.next();
  }

  async return(): Promise<void> {
    await this.#source.return?.();
  }

  async #readAhead(maxEvents: number): Promise<void> {
    for (let events = 0; events < maxEvents && !this.#taken; ) {
      const next = this.#source.next();
      this.#read.push(next);
      // The reflector that takes the watch over sees the failure.
      const batch = await next.catch(() => undefined);
      if (batch === undefined || batch.done === true) return;
      events += Math.max(1, batch.value.length);
    }
  }
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
 * preflight checks run or the lease of another watcher expires. Until the reflector takes a watch over, it reads only the first
 * batch, or a limited number of events.
 */
export class EarlyWatches {
  readonly #watches = new Map<Resource, EarlyWatch>();

  /**
   * `signal` closes the watches that nobody has taken over. `readAhead`: of each resource, stop reading after this many events.
   */
  constructor(reader: ClusterReader, signal: AbortSignal, readAhead = 1) {
    for (const resource of watchedResources) {
      const abort = new AbortController();
      signal.addEventListener('abort', () => this.#watches.delete(resource) && abort.abort(), { once: true });
      const skipped = new SkippedObjects();
      const onSkipped = (object: SkippedObject) => skipped.add(object);
      const watch = reader.watch(resource, '', abort.signal, { sendInitialEvents: true, onSkipped });
      const batches = new ReadAhead(watch[Symbol.asyncIterator](), readAhead);
      this.#watches.set(resource, { batches, abort, skipped });
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
  const { batches, abort, skipped } = early;
  skipped.reportTo(onSkipped ?? (() => {}));
  const close = () => abort.abort();
  signal.addEventListener('abort', close, { once: true });
  if (signal.aborted) close();
  try {
    for (let next = await batches.next(); next.done !== true; next = await batches.next()) yield next.value;
  } finally {
    signal.removeEventListener('abort', close);
    close();
    await batches.return();
  }
}
