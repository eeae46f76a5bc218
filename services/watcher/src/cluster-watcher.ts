import { BusClosedError } from '@sluice/bus';
import { isOlderVersion, Reflector, type Resource, type WatchEvent, watchedResources } from '@sluice/kubernetes';
import { runWithBackoff, sleep } from '@sluice/runtime';
import type { ClusterWatcherOptions } from './cluster-watcher-options.ts';
import { Inventory, objectName } from './inventory.ts';
import { Ledger } from './ledger.ts';
import { type Observed, Observer, observe } from './observer.ts';
import { Publisher } from './publisher.ts';
import { readRequests } from './request-reader.ts';
import { type MarkService, Router } from './router.ts';
import { Telling } from './telling.ts';

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
  readonly #telling: Telling;
  #publisher: Publisher;
  #ledger: Ledger | undefined;
  readonly #versions = new Map<Resource, string>();
  readonly #unlisted = new Set<Resource>(watchedResources);
  readonly #synced = Promise.withResolvers<void>();

  constructor(options: ClusterWatcherOptions) {
    this.#options = options;
    this.#publisher = this.#newPublisher(undefined);
    this.#telling = new Telling({ ...options, inventory: this.#inventory, publisher: () => this.#publisher });
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
    if (this.#unlisted.size === 0) this.#telling.tellAll({ on: 'snapshot', start: false }, 'resync');
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
          // Lists that are not in yet end in a snapshot of everything.
          onRequest: (request) => (this.#unlisted.size > 0 ? [] : this.#telling.answer(request)),
          onAnswered: (cursor, services) => ledger?.answered(cursor, services),
        },
        signal,
      );
    const isFatal = (error: unknown) => error instanceof BusClosedError || ledger?.over.aborted === true;
    try {
      await runWithBackoff(read, { clock, random, logger, isFatal }, signal);
    } catch (error) {
      if (ledger?.over.aborted !== true) throw error;
    }
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
    if (this.#unlisted.size === 0 && isWritten(resource)) this.#telling.markAll({ on: 'list' });
    if (this.#unlisted.delete(resource) && this.#unlisted.size === 0) {
      this.#telling.tellNews(this.#ledger);
      this.#synced.resolve();
    }
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
