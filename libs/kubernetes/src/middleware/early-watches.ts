import type { Clock } from '@sluice/platform';
import {
  type ClusterReader,
  type Resource,
  resourcesOfReader,
  type SkippedObject,
  type WatchEvent,
  type WatchOptions,
} from '../cluster.ts';
import type { ClusterRequest, Middleware, RequestOf, ResponseTo, WatchStream } from '../middleware.ts';
import { type CatchUpOptions, catchUp } from './catch-up.ts';

interface EarlyWatch {
  readonly batches: ReadAhead;
  readonly abort: AbortController;
  readonly skipped: SkippedObjects;
}

type Batch = IteratorResult<readonly WatchEvent[]>;

/** Reads batches before they are requested, until it has as many events as it may keep. */
class ReadAhead {
  /** Resolves when the initial events, or the maximum number of events, are read, or when the watch has failed. */
  readonly ready: Promise<void>;
  readonly #source: AsyncIterator<readonly WatchEvent[]>;
  readonly #read: Promise<Batch>[] = [];
  readonly #ready = Promise.withResolvers<void>();
  #taken = false;

  constructor(source: AsyncIterator<readonly WatchEvent[]>, maxEvents: number) {
    this.#source = source;
    this.ready = this.#ready.promise;
    void this.#readAhead(maxEvents).then(this.#ready.resolve);
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
      if (batch.value.some((event) => event.type === 'BOOKMARK' && event.initialEventsEnd)) this.#ready.resolve();
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

interface EarlyWatchesOptions {
  /** Closes the watches that no reader has taken over. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** Of each resource, stop reading after this many events. Default: after the first batch. */
  readonly readAhead?: number;
}

/**
 * Opens a WatchList of each resource before anyone requests it, so that the API server collects the initial events while the
 * preflight checks run or the lease of another watcher expires. Until the reflector takes a watch over, it reads only the first
 * batch, or a limited number of events.
 */
export class EarlyWatches {
  /** Resolves when the initial events are read, or as many of each resource as are read ahead. Never rejects. */
  readonly ready: Promise<void>;
  readonly #watches = new Map<Resource, EarlyWatch>();
  readonly #clock: Clock;

  constructor(reader: ClusterReader, { signal, clock, readAhead = 1 }: EarlyWatchesOptions) {
    this.#clock = clock;
    const ready: Promise<void>[] = [];
    for (const resource of resourcesOfReader(reader)) {
      const abort = new AbortController();
      signal.addEventListener('abort', () => this.#watches.delete(resource) && abort.abort(), { once: true });
      const skipped = new SkippedObjects();
      const onSkipped = (object: SkippedObject) => skipped.add(object);
      const watch = reader.watch(resource, '', abort.signal, { sendInitialEvents: true, onSkipped });
      const batches = new ReadAhead(watch[Symbol.asyncIterator](), readAhead);
      this.#watches.set(resource, { batches, abort, skipped });
      ready.push(batches.ready);
    }
    this.ready = Promise.all(ready).then(() => {});
  }

  /** Answers the first WatchList of each resource with the early watch. */
  readonly middleware: Middleware = async (request, next) => {
    if (!isWatch(request)) return next(request);
    const { resource, resourceVersion, options, signal } = request;
    const early = this.#watches.get(resource);
    this.#watches.delete(resource);
    if (early !== undefined && options.sendInitialEvents === true) {
      const initial = { minimum: resourceVersion, clock: this.#clock };
      return takeOver(early, initial, options, signal) as ResponseTo<typeof request>;
    }
    early?.abort.abort();
    return next(request);
  };
}

function isWatch<R extends ClusterRequest>(request: R): request is R & RequestOf<'watch'> {
  return request.verb === 'watch';
}

async function* takeOver(
  early: EarlyWatch,
  initial: CatchUpOptions,
  { onSkipped }: WatchOptions,
  signal: AbortSignal,
): WatchStream {
  const { batches, abort, skipped } = early;
  skipped.reportTo(onSkipped ?? (() => {}));
  const close = () => abort.abort();
  signal.addEventListener('abort', close, { once: true });
  if (signal.aborted) close();
  try {
    yield* catchUp(batches, initial);
  } finally {
    signal.removeEventListener('abort', close);
    close();
    await batches.return();
  }
}
