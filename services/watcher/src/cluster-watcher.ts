import { type Bus, BusClosedError } from '@sluice/bus';
import {
  type ClusterReader,
  isOlderVersion,
  Reflector,
  type ReflectorState,
  type Resource,
  type WatchEvent,
  watchedResources,
} from '@sluice/kubernetes';
import {
  type Cause,
  formatServiceKey,
  partitionOf,
  type ResyncRequest,
  type ServiceKey,
  watcherStarted,
} from '@sluice/messages';
import { type Clock, keepRunning, type Logger, type Random, sleep } from '@sluice/runtime';
import type { Tracer } from '@sluice/telemetry';
import { Inventory, objectName } from './inventory.ts';
import type { Mark } from './marks.ts';
import { type Observed, Observer, observe } from './observer.ts';
import { Publisher } from './publisher.ts';
import { readRequests } from './request-reader.ts';
import { type MarkService, Router } from './router.ts';

export interface ClusterWatcherOptions {
  /** Identity of the cluster, as ClusterReader tells it. */
  readonly cluster: string;
  readonly epoch: number;
  readonly reader: ClusterReader;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /**
   * Between resyncs, each of which tells every Service all over again, so that what went wrong unseen is decided anew
   * (A7). Stretched by a random factor up to 2. Default 12 h.
   */
  readonly resyncPeriodMs?: number;
  /**
   * How often each partition is sent an empty Change if nothing else is: it shows that the last one was lost (ADR 0017).
   * Default: never, since a bus in the same process loses nothing.
   */
  readonly chainPeriodMs?: number;
  readonly onState?: (resource: Resource, state: ReflectorState, detail: string) => void;
  /** Called for each object that was left out because it is malformed. */
  readonly onMalformed?: (resource: Resource) => void;
  /** Default: nothing is traced. */
  readonly tracer?: Tracer | undefined;
}

/**
 * Watches one cluster and publishes what happens in it, routed to the Services that it concerns.
 *
 * Nothing is published until all lists are in: then each Service gets one snapshot, and from there on what changes. A
 * list that has to be made again is compared with what is known, so a deletion that nobody saw is published like any
 * other.
 */
export class ClusterWatcher {
  readonly #options: ClusterWatcherOptions;
  readonly #inventory = new Inventory();
  readonly #publisher: Publisher;
  readonly #observer: Observer;
  readonly #versions = new Map<Resource, string>();
  readonly #unlisted = new Set<Resource>(watchedResources);
  readonly #synced = Promise.withResolvers<void>();

  constructor(options: ClusterWatcherOptions) {
    this.#options = options;
    this.#publisher = new Publisher({
      ...options,
      inventory: this.#inventory,
      versions: () => ({ endpoints: this.#version('endpoints'), endpointslices: this.#version('endpointslices') }),
    });
    const mark: MarkService = (namespace, service, mark, cause) => {
      if (this.#unlisted.size === 0) this.#publisher.mark(namespace, service, mark, cause);
    };
    const router = new Router(this.#inventory, mark);
    this.#observer = new Observer(this.#inventory, router);
  }

  /** Resolves once all lists are in. */
  get synced(): Promise<void> {
    return this.#synced.promise;
  }

  /** Runs until `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([
      ...watchedResources.map((resource) => this.#reflector(resource).run(signal)),
      this.#resyncPeriodically(signal),
      this.#chainPeriodically(signal),
      this.#answerRequests(signal),
    ]);
    this.#publisher.close();
  }

  /** Tells every Service all over again. Keys that were parked get another chance. */
  resync(): void {
    if (this.#unlisted.size === 0) this.#publishAll({ on: 'snapshot', start: false }, 'resync');
  }

  async #resyncPeriodically(signal: AbortSignal): Promise<void> {
    const { clock, random, resyncPeriodMs = 12 * 3_600_000 } = this.#options;
    while (!signal.aborted) {
      await sleep(clock, resyncPeriodMs * (1 + random.next()), signal);
      if (!signal.aborted) this.resync();
    }
  }

  async #answerRequests(signal: AbortSignal): Promise<void> {
    const { bus, clock, random, logger } = this.#options;
    const read = () => readRequests({ bus, logger, onRequest: (request) => this.#answer(request) }, signal);
    await keepRunning(read, { clock, random, logger, giveUp: (error) => error instanceof BusClosedError }, signal);
  }

  #answer(request: ResyncRequest | null): void {
    // Lists that are not in yet end in a snapshot of everything.
    if (this.#unlisted.size > 0) return;
    const { bus, cluster, logger } = this.#options;
    if (request === null) return this.resync();
    const { of, reason } = request;
    const what = `resync: ${reason}`;
    if ('partition' in of) {
      logger.info('telling a partition again', { partition: of.partition, reason });
      const isAsked = (key: ServiceKey) => partitionOf(formatServiceKey(key), bus.partitions) === of.partition;
      this.#publishAll({ on: 'snapshot', start: false }, what, isAsked);
    } else if (of.key.cluster === cluster) {
      const { namespace, service } = of.key;
      logger.info('telling a Service again', { namespace, service, reason });
      const cause = { what, observedAt: this.#options.clock.now() };
      this.#publisher.mark(namespace, service, { on: 'snapshot', start: false }, cause);
    }
  }

  async #chainPeriodically(signal: AbortSignal): Promise<void> {
    const { clock, chainPeriodMs } = this.#options;
    while (chainPeriodMs !== undefined && !signal.aborted) {
      await sleep(clock, chainPeriodMs, signal);
      if (signal.aborted || this.#unlisted.size > 0) continue;
      for (const { namespace, service } of this.#publisher.onePerPartition()) {
        this.#publisher.mark(namespace, service, { on: 'list' });
      }
    }
  }

  #reflector(resource: Resource): Reflector<Observed> {
    const { reader, clock, random, logger, onState, onMalformed } = this.#options;
    const malformed = (why: string) => {
      logger.warn('malformed object skipped', { resource, why });
      onMalformed?.(resource);
    };
    return new Reflector<Observed>({
      cluster: reader,
      resource,
      decode: (raw) => observe(resource, raw, malformed),
      sink: {
        replace: (objects, resourceVersion) => this.#replace(resource, objects, resourceVersion),
        apply: (events) => this.#apply(resource, events),
      },
      clock,
      random,
      logger,
      onState: (state, detail) => onState?.(resource, state, detail),
      onSkipped: ({ namespace, name, why }) => malformed(`${objectName(namespace, name)}: ${why}`),
    });
  }

  #replace(resource: Resource, objects: readonly Observed[], resourceVersion: string): void {
    const at = this.#options.clock.now();
    const gone = this.#observer.known(resource);
    for (const { namespace, name, present } of objects) {
      gone.delete(objectName(namespace, name));
      present?.(this.#observer, at);
    }
    for (const name of gone) {
      const [namespace = '', objectOnly = ''] = name.split('/');
      this.#observer.absent(resource, { namespace, name: objectOnly }, at);
    }
    this.#versions.set(resource, resourceVersion);
    if (this.#unlisted.size === 0 && isWritten(resource)) this.#markAll({ on: 'list' });
    if (this.#unlisted.delete(resource) && this.#unlisted.size === 0) {
      this.#publishAll({ on: 'snapshot', start: true }, watcherStarted);
      this.#synced.resolve();
    }
  }

  #apply(resource: Resource, events: readonly WatchEvent<Observed>[]): void {
    const at = this.#options.clock.now();
    for (const event of events) {
      if (event.type === 'BOOKMARK') {
        this.#advance(resource, event.resourceVersion);
        continue;
      }
      if (event.type === 'DELETED') this.#observer.absent(resource, event.object, at);
      else event.object.present?.(this.#observer, at);
      this.#advance(resource, event.object.resourceVersion);
    }
  }

  /** A Service that is gone may still have Endpoints to be swept or mirrored slices to be cleaned up. */
  #publishAll(mark: Mark, what: string, isAsked?: (key: ServiceKey) => boolean): void {
    this.#markAll(mark, { what, observedAt: this.#options.clock.now() }, isAsked);
  }

  #markAll(mark: Mark, cause?: Cause, isAsked: (key: ServiceKey) => boolean = () => true): void {
    const names = new Set([
      ...this.#inventory.services.keys(),
      ...this.#inventory.endpoints.keys(),
      ...this.#inventory.servicesWithSlices,
    ]);
    for (const name of names) {
      const [namespace = '', service = ''] = name.split('/');
      if (isAsked({ cluster: this.#options.cluster, namespace, service })) {
        this.#publisher.mark(namespace, service, mark, cause);
      }
    }
    // What went before is told once more, in case that news was lost, and then forgotten.
    for (const key of this.#publisher.told) {
      const { namespace, service } = key;
      if (names.has(objectName(namespace, service)) || !isAsked(key)) continue;
      this.#publisher.mark(namespace, service, mark, cause);
      this.#publisher.forget(namespace, service);
    }
  }

  #version(resource: Resource): string {
    return this.#versions.get(resource) ?? '0';
  }

  #advance(resource: Resource, version: string): void {
    if (version !== '' && isOlderVersion(this.#version(resource), version)) this.#versions.set(resource, version);
  }
}

const isWritten = (resource: Resource): boolean => resource === 'endpoints' || resource === 'endpointslices';
