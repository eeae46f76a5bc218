import { type Bus, BusClosedError } from '@sluice/bus';
import { leaderAnnotation } from '@sluice/controllers';
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
  shortDigest,
  watcherStarted,
} from '@sluice/messages';
import { type Clock, keepRunning, type Logger, type Random, sleep, type Turns } from '@sluice/runtime';
import type { Store } from '@sluice/store';
import type { Tracer } from '@sluice/telemetry';
import { digest } from './compose.ts';
import { Inventory, objectName } from './inventory.ts';
import { Ledger } from './ledger.ts';
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
  /** Shared by all that a process computes. Default: each goes on as soon as it can. */
  readonly turns?: Turns | undefined;
  /**
   * Between resyncs, each of which tells every Service all over again, so that what went wrong unseen is decided anew
   * (A7). Stretched by a random factor up to 2. Default 12 h.
   */
  readonly resyncPeriodMs?: number;
  /**
   * How often each partition is sent a Change with the digest of some of its Services. It shows that the one before was
   * lost (ADR 0017), and whether the reconciler knows of these Services what the watcher knows (ADR 0019). Default:
   * never.
   */
  readonly comparePeriodMs?: number;
  /** Remembers what was told, so that the next watcher tells only what is new. Default: nothing is remembered. */
  readonly store?: Store;
  readonly onState?: (resource: Resource, state: ReflectorState, detail: string) => void;
  /** Called whenever the API server tells anything of a resource, be it that there is nothing new. */
  readonly onHeard?: (resource: Resource) => void;
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
  readonly #observer: Observer;
  #publisher: Publisher;
  #ledger: Ledger | undefined;
  readonly #versions = new Map<Resource, string>();
  readonly #unlisted = new Set<Resource>(watchedResources);
  readonly #synced = Promise.withResolvers<void>();

  constructor(options: ClusterWatcherOptions) {
    this.#options = options;
    this.#publisher = this.#newPublisher(undefined);
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

  /** Runs until `signal` aborts. Throws FencedError if a newer watcher has taken over. */
  async run(signal: AbortSignal): Promise<void> {
    const { store } = this.#options;
    if (store === undefined) return this.#runUntil(signal);
    const ledger = await Ledger.claim({ ...this.#options, store });
    this.#ledger = ledger;
    this.#publisher = this.#newPublisher(ledger);
    await this.#runUntil(AbortSignal.any([signal, ledger.over]));
    ledger.over.throwIfAborted();
  }

  async #runUntil(signal: AbortSignal): Promise<void> {
    await Promise.all([
      ...watchedResources.map((resource) => this.#reflector(resource).run(signal)),
      this.#resyncPeriodically(signal),
      this.#comparePeriodically(signal),
      this.#settlePeriodically(signal),
      this.#answerRequests(signal),
    ]);
    if (this.#ledger !== undefined) await this.#settleAll(this.#ledger);
    this.#publisher.close();
    this.#ledger?.close();
  }

  #newPublisher(ledger: Ledger | undefined): Publisher {
    const versions = () => ({
      endpoints: this.#version('endpoints'),
      endpointslices: this.#version('endpointslices'),
    });
    return new Publisher({ ...this.#options, inventory: this.#inventory, versions, ledger });
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

  async #settlePeriodically(signal: AbortSignal): Promise<void> {
    const ledger = this.#ledger;
    if (ledger === undefined) return;
    while (!signal.aborted) {
      await sleep(this.#options.clock, settlePeriodMs, signal);
      if (signal.aborted || this.#unlisted.size > 0) continue;
      try {
        await Promise.all([this.#publisher.settle(), ledger.reached(this.#versions)]);
      } catch (error) {
        if (!ledger.over.aborted) throw error;
      }
    }
  }

  /** What is on its way may arrive, and is remembered: so an orderly restart tells nothing twice. */
  async #settleAll(ledger: Ledger): Promise<void> {
    const enough = new AbortController();
    const settled = (async () => {
      await this.#publisher.idle();
      if (this.#unlisted.size === 0) await Promise.all([this.#publisher.settle(true), ledger.reached(this.#versions)]);
    })();
    const done = settled.catch((error: unknown) => {
      if (!ledger.over.aborted) this.#options.logger.warn('what was told could not be noted', { error });
    });
    await Promise.race([done.finally(() => enough.abort()), sleep(this.#options.clock, handoverMs, enough.signal)]);
  }

  async #answerRequests(signal: AbortSignal): Promise<void> {
    const { bus, clock, random, logger } = this.#options;
    const ledger = this.#ledger;
    // Requests that the watcher before did not answer ask for what this one may not tell on its own account.
    if (ledger?.requests !== undefined) await Promise.race([this.synced, aborted(signal)]);
    const read = () =>
      readRequests(
        {
          bus,
          logger,
          after: ledger?.requests,
          onRequest: (request) => this.#answer(request),
          onAnswered: (cursor, services) => ledger?.answered(cursor, services),
        },
        signal,
      );
    const giveUp = (error: unknown) => error instanceof BusClosedError || ledger?.over.aborted === true;
    try {
      await keepRunning(read, { clock, random, logger, giveUp }, signal);
    } catch (error) {
      if (ledger?.over.aborted !== true) throw error;
    }
  }

  /** Marks the Services that are asked for, and returns them as formatted keys. */
  #answer(request: ResyncRequest | null): readonly string[] {
    // Lists that are not in yet end in a snapshot of everything.
    if (this.#unlisted.size > 0) return [];
    const { bus, cluster, logger } = this.#options;
    if (request === null) return this.#publishAll({ on: 'snapshot', start: false }, 'resync');
    const { of, reason } = request;
    const what = `resync: ${reason}`;
    if ('partition' in of) {
      logger.info('telling a partition again', { partition: of.partition, reason });
      const isAsked = (key: ServiceKey) => partitionOf(formatServiceKey(key), bus.partitions) === of.partition;
      return this.#publishAll({ on: 'snapshot', start: false }, what, isAsked);
    }
    if (of.key.cluster !== cluster) return [];
    const { namespace, service } = of.key;
    logger.info('telling a Service again', { namespace, service, reason });
    const cause = { what, observedAt: this.#options.clock.now() };
    this.#publisher.mark(namespace, service, { on: 'snapshot', start: false }, cause);
    return [formatServiceKey(of.key)];
  }

  async #comparePeriodically(signal: AbortSignal): Promise<void> {
    const { clock, comparePeriodMs } = this.#options;
    for (let round = 0; comparePeriodMs !== undefined && !signal.aborted; round++) {
      await sleep(clock, comparePeriodMs, signal);
      if (signal.aborted || this.#unlisted.size > 0) continue;
      for (const { namespace, service } of this.#publisher.turn(round, compareRounds)) {
        this.#publisher.mark(namespace, service, { on: 'digest' });
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
      ...(reader.watchList && { watchList: true }),
      notOlderThan: this.#ledger?.version(resource) ?? '',
      onState: (state, detail) => onState?.(resource, state, detail),
      onSkipped: ({ namespace, name, why }) => malformed(`${objectName(namespace, name)}: ${why}`),
    });
  }

  #replace(resource: Resource, objects: readonly Observed[], resourceVersion: string): void {
    this.#options.onHeard?.(resource);
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
      this.#start();
      this.#synced.resolve();
    }
  }

  /** Tells each Service, but for those of which another watcher told just this, and the ledger has it. */
  #start(): void {
    const { cluster, logger } = this.#options;
    const ledger = this.#ledger;
    for (const text of ledger?.remembered ?? []) this.#publisher.resume(text);
    const isNews = (key: ServiceKey): boolean => {
      const stored = ledger?.digest(formatServiceKey(key));
      if (stored === undefined || this.#isLeftover(key)) return true;
      const known = digest(this.#inventory, key.namespace, key.service);
      return known === undefined || shortDigest(known) !== stored;
    };
    const told = this.#publishAll({ on: 'snapshot', start: true }, watcherStarted, isNews);
    if (ledger !== undefined) {
      logger.info('all lists are in', { cluster, told: told.length, unchanged: ledger.remembered.size - told.length });
    }
  }

  /** Endpoints without a Service, which a starting watcher has swept (D4). */
  #isLeftover({ namespace, service }: ServiceKey): boolean {
    const name = objectName(namespace, service);
    const endpoints = this.#inventory.endpoints.get(name);
    if (endpoints === undefined || this.#inventory.services.has(name)) return false;
    return endpoints.metadata.annotations?.[leaderAnnotation] === undefined;
  }

  #apply(resource: Resource, events: readonly WatchEvent<Observed>[]): void {
    this.#options.onHeard?.(resource);
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
  #publishAll(mark: Mark, what: string, isAsked?: (key: ServiceKey) => boolean): readonly string[] {
    return this.#markAll(mark, { what, observedAt: this.#options.clock.now() }, isAsked);
  }

  /** Returns the formatted keys of what was marked. */
  #markAll(mark: Mark, cause?: Cause, isAsked: (key: ServiceKey) => boolean = () => true): readonly string[] {
    const marked: string[] = [];
    const names = new Set([
      ...this.#inventory.services.keys(),
      ...this.#inventory.endpoints.keys(),
      ...this.#inventory.servicesWithSlices,
    ]);
    for (const name of names) {
      const [namespace = '', service = ''] = name.split('/');
      const key = { cluster: this.#options.cluster, namespace, service };
      if (!isAsked(key)) continue;
      this.#publisher.mark(namespace, service, mark, cause);
      marked.push(formatServiceKey(key));
    }
    // What went before is told once more, in case that news was lost, and then forgotten.
    for (const key of this.#publisher.told) {
      const { namespace, service } = key;
      if (names.has(objectName(namespace, service)) || !isAsked(key)) continue;
      this.#publisher.mark(namespace, service, mark, cause);
      this.#publisher.forget(namespace, service);
      marked.push(formatServiceKey(key));
    }
    return marked;
  }

  #version(resource: Resource): string {
    return this.#versions.get(resource) ?? '0';
  }

  #advance(resource: Resource, version: string): void {
    if (version !== '' && isOlderVersion(this.#version(resource), version)) this.#versions.set(resource, version);
  }
}

/** How often what was told is noted, in milliseconds. */
const settlePeriodMs = 1_000;
/** Each Service is compared once in so many rounds. */
const compareRounds = 60;
/** How long a watcher that was told to stop waits for what is on its way, at most. */
const handoverMs = 500;

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

const isWritten = (resource: Resource): boolean => resource === 'endpoints' || resource === 'endpointslices';
