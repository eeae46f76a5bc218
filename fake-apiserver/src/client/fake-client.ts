import {
  type ClusterReader,
  type ClusterWriter,
  heldBack,
  type ListPage,
  type RawObject,
  type Resource,
  type WatchEvent,
  type WatchOptions,
  type WrittenMeta,
} from '@sluice/kubernetes';
import type { EndpointSlice, Endpoints, WrittenResource } from '@sluice/model';
import type { Clock } from '@sluice/platform';
import { FaultPlan, type FaultyRequest } from '../faults/fault-plan.ts';
import { perform } from '../faults/perform.ts';
import type { StoredObject } from '../server/object.ts';
import type { FakeApiServer } from '../server/server.ts';
import { type BookmarkObject, initialEventsEnd, type ServerWatchEvent, type Watch } from '../server/watch.ts';
import { apiErrorOf, ofStatus } from './api-error.ts';

export interface FakeClientOptions {
  readonly clock: Clock;
  /** Faults for the requests of this client only. */
  readonly faults?: FaultPlan;
  /** Whether reflectors may use WatchList with this client. Default false. */
  readonly watchList?: boolean;
}

/** In-process client of the fake API server, with faults on demand. */
export class FakeClient implements ClusterReader, ClusterWriter {
  readonly watchList: boolean;
  readonly #server: FakeApiServer;
  readonly #clock: Clock;
  readonly #faults: FaultPlan;

  constructor(server: FakeApiServer, options: FakeClientOptions) {
    this.#server = server;
    this.watchList = options.watchList ?? false;
    this.#clock = options.clock;
    this.#faults = options.faults ?? new FaultPlan();
  }

  identity(signal: AbortSignal): Promise<string> {
    const request = { verb: 'get', resource: 'namespaces', name: 'kube-system' } as const;
    return this.#perform(signal, request, () => this.#server.identity);
  }

  list(resource: Resource, options: { limit: number; continueToken: string }, signal: AbortSignal): Promise<ListPage> {
    return this.#perform(signal, { verb: 'list', resource, name: '' }, (behind, empty) => {
      const page = this.#server.list(resource, { ...options, behind });
      return empty ? { ...page, items: [], continueToken: '' } : page;
    });
  }

  async *watch(
    resource: Resource,
    resourceVersion: string,
    signal: AbortSignal,
    options: WatchOptions = {},
  ): AsyncGenerator<readonly WatchEvent[], void, undefined> {
    const watch = await this.#open(resource, resourceVersion, signal, options);
    if (watch === undefined) return;
    const close = () => watch.close();
    signal.addEventListener('abort', close, { once: true });
    try {
      // Signals that the watch is established.
      yield [];
      for (;;) {
        const events = await nextOf(watch);
        if (events === undefined || signal.aborted) return;
        yield events.map(eventForClient);
      }
    } finally {
      signal.removeEventListener('abort', close);
      watch.close();
    }
  }

  get(resource: Resource, namespace: string, name: string, signal: AbortSignal): Promise<RawObject> {
    return this.#perform(signal, { verb: 'get', resource, name }, () => this.#server.get(resource, namespace, name));
  }

  async create(
    resource: WrittenResource,
    object: Endpoints | EndpointSlice,
    signal: AbortSignal,
  ): Promise<WrittenMeta> {
    const named = this.#server.named(resource, { ...object });
    return this.#perform(signal, { verb: 'create', resource, name: named.metadata.name }, () =>
      metaOf(this.#server.create(resource, named)),
    );
  }

  update(resource: WrittenResource, object: Endpoints | EndpointSlice, signal: AbortSignal): Promise<WrittenMeta> {
    return this.#perform(signal, { verb: 'update', resource, name: object.metadata.name }, () =>
      metaOf(this.#server.update(resource, { ...object })),
    );
  }

  delete(
    resource: WrittenResource,
    namespace: string,
    name: string,
    preconditions: { uid?: string; resourceVersion?: string },
    signal: AbortSignal,
  ): Promise<RawObject | undefined> {
    return this.#perform(signal, { verb: 'delete', resource, name }, () =>
      heldBack(this.#server.delete(resource, namespace, name, preconditions)),
    );
  }

  /** Undefined if the request was aborted. */
  async #open(
    resource: Resource,
    resourceVersion: string,
    signal: AbortSignal,
    { sendInitialEvents = false }: WatchOptions,
  ): Promise<Watch | undefined> {
    const options = { resourceVersion, allowBookmarks: true, sendInitialEvents };
    try {
      return await this.#perform(signal, { verb: 'watch', resource, name: '' }, (behind) =>
        this.#server.watch(resource, { ...options, behind }),
      );
    } catch (error) {
      if (signal.aborted) return undefined;
      throw error;
    }
  }

  async #perform<T>(
    signal: AbortSignal,
    request: FaultyRequest,
    run: (behind: number, empty: boolean) => T,
  ): Promise<T> {
    try {
      return await perform(this.#faults, this.#clock, signal, request, run);
    } catch (error) {
      throw apiErrorOf(error, request);
    }
  }
}

async function nextOf(watch: Watch): Promise<readonly ServerWatchEvent[] | undefined> {
  try {
    return await watch.next();
  } catch (error) {
    throw apiErrorOf(error);
  }
}

function eventForClient(event: ServerWatchEvent): WatchEvent {
  switch (event.type) {
    case 'ERROR':
      throw ofStatus(event.object);
    case 'BOOKMARK':
      return bookmarkForClient(event.object);
    default:
      return event;
  }
}

function bookmarkForClient({ metadata }: BookmarkObject): WatchEvent {
  const { resourceVersion, annotations } = metadata;
  const ends = annotations?.[initialEventsEnd] === 'true';
  return { type: 'BOOKMARK', resourceVersion, ...(ends ? { initialEventsEnd: true } : {}) };
}

function metaOf({ metadata }: StoredObject): WrittenMeta {
  const { name, uid, resourceVersion, generation, creationTimestamp } = metadata;
  return { name, uid, resourceVersion, generation: generation ?? 0, ...(creationTimestamp && { creationTimestamp }) };
}
