import {
  type ClusterReader,
  type ListOptions,
  type ListPage,
  type Resource,
  type WatchEvent,
  type WatchOptions,
  watchedResources,
} from './cluster.ts';

interface EarlyWatch {
  readonly batches: AsyncIterator<readonly WatchEvent[]>;
  readonly first: Promise<IteratorResult<readonly WatchEvent[]>>;
  readonly end: AbortController;
}

/**
 * A reader that opens the first watch of each resource before it is asked, so that the API server gathers what is there
 * while a start still checks that it may go on. Of each no more is read than its beginning until somebody asks for it.
 */
export class EarlyReader implements ClusterReader {
  readonly watchList = true;
  readonly #reader: ClusterReader;
  readonly #early = new Map<Resource, EarlyWatch>();

  /** `signal` ends those that nobody has asked for. */
  constructor(reader: ClusterReader, signal: AbortSignal) {
    this.#reader = reader;
    for (const resource of watchedResources) {
      const end = new AbortController();
      signal.addEventListener('abort', () => this.#early.delete(resource) && end.abort(), { once: true });
      const watch = reader.watch(resource, '', end.signal, { sendInitialEvents: true });
      const batches = watch[Symbol.asyncIterator]();
      const first = batches.next();
      // It is told to who asks, if anybody does.
      first.catch(() => {});
      this.#early.set(resource, { batches, first, end });
    }
  }

  identity(signal: AbortSignal): Promise<string> {
    return this.#reader.identity(signal);
  }

  list(resource: Resource, options: ListOptions, signal: AbortSignal): Promise<ListPage> {
    return this.#reader.list(resource, options, signal);
  }

  watch(
    resource: Resource,
    resourceVersion: string,
    signal: AbortSignal,
    options: WatchOptions = {},
  ): AsyncIterable<readonly WatchEvent[]> {
    const early = this.#early.get(resource);
    this.#early.delete(resource);
    const isThat = resourceVersion === '' && options.sendInitialEvents === true;
    if (early !== undefined && isThat) return takenOver(early, signal);
    early?.end.abort();
    return this.#reader.watch(resource, resourceVersion, signal, options);
  }
}

async function* takenOver(
  { batches, first, end }: EarlyWatch,
  signal: AbortSignal,
): AsyncIterable<readonly WatchEvent[]> {
  const stop = () => end.abort();
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  try {
    for (let next = await first; next.done !== true; next = await batches.next()) yield next.value;
  } finally {
    signal.removeEventListener('abort', stop);
    stop();
    await batches.return?.();
  }
}
