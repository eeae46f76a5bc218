import {
  isOlderVersion,
  ListBudget,
  Reflector,
  type Resource,
  resourcesOfReader,
  type WatchEvent,
} from '@sluice/kubernetes';
import type { WrittenResource } from '@sluice/model';
import { type Clock, type Permit, Semaphore } from '@sluice/platform';
import { AvailabilityMonitor } from './availability-monitor.ts';
import { probeAvailability } from './availability-probe.ts';
import type { ClusterWatcherOptions } from './cluster-watcher-options.ts';
import type { EventHandler } from './event-handler.ts';
import type { Indexer } from './indexer.ts';
import { type DecodedObject, decodeObject } from './watched-objects.ts';

export interface InformerOptions
  extends Pick<
    ClusterWatcherOptions,
    | 'reader'
    | 'clock'
    | 'random'
    | 'logger'
    | 'onState'
    | 'onProgress'
    | 'onAvailability'
    | 'onMalformed'
    | 'recordEachEvent'
    | 'listBudget'
  > {
  readonly handler: EventHandler;
  /** What the handler fills. */
  readonly indexer: Indexer;
  /** What the first lists hold; renewed by each progress. */
  readonly permit?: Permit | undefined;
  /** resourceVersion that a previous watcher reached: older lists are stale. Empty if none. */
  readonly notOlderThan: (resource: Resource) => string;
  /** Called once, when every resource has been listed. */
  readonly onSynced: () => void;
  /**
   * Called instead of handling a list that proves that the cluster's history restarted: its etcd was restored from a backup.
   * Nothing is handled after it.
   */
  readonly onHistoryRestarted: (proof: string) => void;
  /** Called when a resource is listed again after that. */
  readonly onRelisted: (resource: Resource) => void;
}

const defaultMaxBytes = 1024 * 1024 * 1024;

/** Runs a reflector for each watched resource and passes what it decodes to the event handler. */
export class Informer {
  readonly #options: InformerOptions;
  readonly #resourceVersions: Map<Resource, string>;
  #historyRestarted = false;
  readonly #unlisted: Set<Resource>;
  readonly #availability: AvailabilityMonitor;
  readonly #listBudget: ListBudget;

  constructor(options: InformerOptions) {
    this.#options = options;
    this.#resourceVersions = options.indexer.resourceVersions;
    this.#unlisted = new Set(resourcesOfReader(options.reader));
    this.#listBudget = options.listBudget ?? new ListBudget(defaultMaxBytes);
    this.#availability = new AvailabilityMonitor(options);
  }

  /** Whether every resource has been listed, so that the indexer is complete. */
  get hasSynced(): boolean {
    return this.#unlisted.size === 0;
  }

  resourceVersion(resource: Resource): string {
    return this.#resourceVersions.get(resource) ?? '0';
  }

  async run(signal: AbortSignal): Promise<void> {
    const { reader, clock } = this.#options;
    const reflectors = resourcesOfReader(reader).map((resource) => this.#reflector(resource));
    const availability = this.#availability;
    const onResponse = (wasSilent: boolean) => {
      const isRetrying = (one: Reflector<unknown>) => one.status().state === 'retrying';
      // Retries show whether the API server serves their resource.
      if (!reflectors.some(isRetrying)) availability.answered();
      for (const reflector of reflectors) if (wasSilent || isRetrying(reflector)) reflector.restart();
    };
    await Promise.all([
      ...reflectors.map((reflector) => reflector.run(signal)),
      probeAvailability({ reader, clock, availability, onResponse }, signal),
    ]);
  }

  #reflector<R extends Resource>(resource: R): Reflector<DecodedObject<R>> {
    const { reader, clock, random, logger, notOlderThan, onState, onMalformed, recordEachEvent } = this.#options;
    const reportMalformed = (reason: string) => {
      logger.warn('skipping malformed object', { resource, reason });
      onMalformed?.(resource);
    };
    return new Reflector<DecodedObject<R>>({
      cluster: reader,
      resource,
      decode: (raw) => decodeObject(resource, raw, reportMalformed, { isRecorded: recordEachEvent }),
      sink: {
        replace: (objects, resourceVersion) => this.#replace(resource, objects, resourceVersion),
        apply: (events) => this.#apply(resource, events),
      },
      clock,
      random,
      logger,
      ...(reader.watchList && { watchList: true }),
      notOlderThan: notOlderThan(resource),
      listBudget: this.#listBudget,
      onState: (state, detail) => {
        if (state === 'watching') this.#availability.answered();
        onState?.(resource, state, detail);
      },
      onError: (error) => this.#availability.failed(error),
      onSkipped: () => onMalformed?.(resource),
    });
  }

  #replace<R extends Resource>(resource: R, objects: readonly DecodedObject<R>[], resourceVersion: string): void {
    const { handler, clock, permit, onProgress, onSynced, onRelisted, onHistoryRestarted } = this.#options;
    permit?.renew();
    onProgress?.(resource);
    const proof = this.#proofOfRestart(resource, objects, resourceVersion);
    if (proof !== undefined && !this.#historyRestarted) {
      this.#historyRestarted = true;
      onHistoryRestarted(proof);
    }
    if (this.#historyRestarted) return;
    handler.replace(resource, objects, clock.now());
    this.#resourceVersions.set(resource, resourceVersion);
    if (this.hasSynced) return onRelisted(resource);
    this.#unlisted.delete(resource);
    if (this.#unlisted.size === 0) onSynced();
  }

  /**
   * resourceVersions only increase. A list that is older than what was seen before, although the reflector has repeated it,
   * or that contains an object which was not there when its version was current, is of another history.
   */
  #proofOfRestart<R extends Resource>(
    resource: R,
    objects: readonly DecodedObject<R>[],
    listed: string,
  ): string | undefined {
    const reached = this.#resourceVersions.get(resource);
    const known = reached ?? this.#options.notOlderThan(resource);
    if (isOlderVersion(listed, known)) return `${resource} listed at ${listed} after ${known}`;
    if (reached === undefined || (resource !== 'endpoints' && resource !== 'endpointslices')) return undefined;
    const written = objects as readonly DecodedObject<WrittenResource>[];
    const name = this.#options.handler.contradiction(resource, written, reached);
    return name && `${resource} ${name} differs from what was current at ${reached}`;
  }

  #apply<R extends Resource>(resource: R, events: readonly WatchEvent<DecodedObject<R>>[]): void {
    const { handler, clock, permit, onProgress } = this.#options;
    permit?.renew();
    onProgress?.(resource);
    this.#availability.answered();
    if (this.#historyRestarted) return;
    const observedAt = clock.now();
    for (const event of events) {
      if (event.type === 'BOOKMARK') {
        this.#advance(resource, event.resourceVersion);
        continue;
      }
      // Before the event is handled: an object that does not fit is not kept.
      const before = handler.kept(resource, event.object);
      const { namespace, name, object } = event.object;
      const after = object === undefined ? (before ?? { namespace, name }) : { namespace, name, object };
      this.#listBudget.update(resource, before, event.type === 'DELETED' ? undefined : after);
      if (event.type === 'DELETED') handler.delete(resource, event.object, observedAt);
      else handler.upsert(resource, event.object, observedAt);
      this.#advance(resource, event.object.resourceVersion);
    }
  }

  #advance(resource: Resource, version: string): void {
    if (!isOlderVersion(this.resourceVersion(resource), version)) return;
    this.#resourceVersions.set(resource, version);
  }
}

/**
 * Limits how many clusters a process lists and publishes at once. The event loop handles everything that has arrived before it handles
 * timers, so with hundreds of clusters heartbeats of leases would come too late, and the objects of all of them would be in memory
 * before any is published. An API server that sends nothing for two seconds, or not all in half a minute, delays no other for longer.
 */
export const listSemaphore = (clock: Clock): Semaphore =>
  new Semaphore({ clock, permits: 8, maxIdleMs: 2_000, maxHoldMs: 30_000 });
