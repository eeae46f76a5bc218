import { errorMessage, sleep } from '@sluice/platform';
import { type ApiError, isApiError, isOutage } from './api-error.ts';
import type { RawObject, SkippedObject, WatchEvent } from './cluster.ts';
import { InitialEvents } from './initial-events.ts';
import type { ReflectorOptions, ReflectorState, ReflectorStatus } from './reflector-options.ts';
import { ResourceVersionGuard, resourceVersionOf } from './resource-version.ts';
import { isTransient, readerError, retryDelayMs } from './status.ts';
import { describe } from './watch-events.ts';

/** A watch that ends earlier without events counts as a failure, so that a broken server is not polled without pause. */
const shortWatchMs = 1_000;
/** Lists everything in one page, for servers whose continue tokens expire before the next page is fetched. */
const unpaged = 1_000_000_000;
/** After this many failed WatchLists in a row the reflector lists in pages. */
const maxStreamFailures = 2;
/** The server responds to lists, with old versions: whether it was restored is found out soon, however long it was down. */
const maxStaleFailures = 2;

/**
 * Keeps a sink in sync with one resource of a cluster: lists it, watches from there, resumes a broken watch at its last
 * resourceVersion, and relists after 410 Gone. The sink never receives an older state after a newer one.
 */
export class Reflector<T = RawObject> {
  readonly #options: ReflectorOptions<T>;
  #state: ReflectorState = 'listing';
  #resourceVersion = '';
  readonly #versions: ResourceVersionGuard;
  #failures = 0;
  /** Whether the last failure was transient. */
  #isTransient = true;
  #goneInRow = 0;
  #watchList: boolean;
  /** WatchLists in a row that ended before the initial events were complete. */
  #streamFailures = 0;
  #pageExpired = false;
  #lastHeardMs: number;
  #lists = 0;
  #errors = 0;
  #skipped = 0;
  #outdated = 0;
  #isWaiting = false;
  /** Ends the watch or the wait. */
  #attempt = new AbortController();

  constructor(options: ReflectorOptions<T>) {
    this.#options = options;
    this.#versions = new ResourceVersionGuard(options.notOlderThan ?? '');
    this.#watchList = options.watchList ?? false;
    this.#lastHeardMs = options.clock.monotonic();
  }

  status(): ReflectorStatus {
    return {
      state: this.#state,
      resourceVersion: this.#resourceVersion,
      lastHeardMs: this.#lastHeardMs,
      lists: this.#lists,
      errors: this.#errors,
      skipped: this.#skipped,
      outdated: this.#outdated,
    };
  }

  /** Retries now, and replaces an open watch, whose connection may be dead. Does not interrupt other requests. */
  restart(): void {
    if (this.#isWaiting || this.#state === 'watching') this.#attempt.abort();
  }

  /** Runs until `signal` aborts. Retries every failure of the cluster; rejects only with errors of the sink. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        const inPages = !this.#watchList || this.#streamFailures >= maxStreamFailures;
        if (this.#resourceVersion !== '') await this.#watch(this.#untilRestart(signal));
        else await (inPages ? this.#list(signal) : this.#streamList(this.#untilRestart(signal)));
      } catch (error) {
        if (signal.aborted) return;
        if (!isApiError(error)) throw error;
        await this.#wait(error, signal);
      }
    }
  }

  #untilRestart(signal: AbortSignal): AbortSignal {
    this.#attempt = new AbortController();
    return AbortSignal.any([signal, this.#attempt.signal]);
  }

  async #list(signal: AbortSignal): Promise<void> {
    const { cluster, resource, pageSize = 500 } = this.#options;
    this.#enter('listing', 'in pages');
    const limit = this.#pageExpired ? unpaged : pageSize;
    const objects: T[] = [];
    const count = this.#options.listBudget?.begin(resource);
    const onItem = (object: RawObject) => {
      const decoded = this.#decode(object);
      count?.add(decoded?.value);
      if (decoded !== undefined) objects.push(decoded.value);
    };
    let resourceVersion = '';
    let continueToken = '';
    do {
      count?.addPage();
      const page = await cluster.list(resource, { limit, continueToken, onItem }, signal).catch((error: unknown) => {
        if (continueToken !== '' && isApiError(error) && error.kind === 'gone') this.#pageExpired = true;
        throw error;
      });
      this.#lastHeardMs = this.#options.clock.monotonic();
      resourceVersion ||= page.resourceVersion;
      continueToken = page.continueToken;
      this.#checkList(resourceVersion);
      for (const object of page.items) onItem(object);
    } while (continueToken !== '' && !signal.aborted);
    if (!signal.aborted) await this.#replace(objects, resourceVersion);
  }

  async #streamList(signal: AbortSignal): Promise<void> {
    const { cluster, resource, clock } = this.#options;
    this.#enter('listing', 'by watch');
    const count = this.#options.listBudget?.begin(resource);
    // Let go once they are handled: this call lasts as long as the watch.
    let initial: InitialEvents<T> | undefined = new InitialEvents((object) => {
      const decoded = this.#decode(object);
      count?.add(decoded?.value);
      return decoded;
    });
    const options = { sendInitialEvents: true, onSkipped: this.#skip };
    try {
      for await (const batch of cluster.watch(resource, this.#versions.minimum, signal, options)) {
        if (signal.aborted) return;
        this.#lastHeardMs = clock.monotonic();
        if (initial === undefined) {
          await this.#apply(batch);
          continue;
        }
        const end = initial.add(batch);
        if (end === undefined) {
          if (batch.some(({ type }) => type === 'BOOKMARK'))
            return this.#giveUpWatchList('no bookmark ends the initial events');
          continue;
        }
        this.#checkList(end.resourceVersion);
        await this.#replace(initial.objects(), end.resourceVersion);
        initial = undefined;
        this.#enter('watching', `from version ${this.#resourceVersion}`);
        await this.#apply(end.rest);
        this.#recovered();
      }
    } catch (error) {
      if (isApiError(error) && error.kind === 'terminal' && [400, 422].includes(error.status)) {
        return this.#giveUpWatchList(error.message);
      }
      if (initial !== undefined) this.#streamFailures++;
      if (isApiError(error) && error.status === 504) this.#versions.countStaleResponse();
      throw error;
    }
    if (initial === undefined || signal.aborted) return;
    this.#streamFailures++;
    throw readerError('retry', 'WatchEndedEarly', 'the server ended the watch before the initial events were complete');
  }

  /** The server does not support `sendInitialEvents`: it rejects it, or is so old that it ignores it. */
  #giveUpWatchList(reason: string): void {
    const { logger, resource } = this.#options;
    logger.info('server does not support WatchList; listing in pages', { resource, reason });
    this.#watchList = false;
  }

  async #replace(objects: readonly T[], resourceVersion: string): Promise<void> {
    await this.#options.sink.replace(objects, resourceVersion);
    this.#lists++;
    this.#streamFailures = 0;
    this.#pageExpired = false;
    this.#advance(resourceVersion);
  }

  #checkList(resourceVersion: string): void {
    if (this.#versions.acceptList(resourceVersion)) return;
    const { logger, resource } = this.#options;
    logger.warn('resourceVersions decreased; accepting the older list', {
      resource,
      resourceVersion,
    });
  }

  async #watch(signal: AbortSignal): Promise<void> {
    const { cluster, resource, clock } = this.#options;
    const started = clock.monotonic();
    let open = false;
    let received = false;
    let changed = false;
    if (this.#state === 'retrying') await this.#checkHistory(signal);
    // After a list the server is known to respond; after a failure only its next event shows that.
    if (this.#state === 'listing') this.#enter('watching', `from version ${this.#resourceVersion}`);
    try {
      for await (const batch of cluster.watch(resource, this.#resourceVersion, signal, { onSkipped: this.#skip })) {
        if (signal.aborted) return;
        open = true;
        this.#lastHeardMs = clock.monotonic();
        this.#enter('watching', `from version ${this.#resourceVersion}`);
        if (batch.length === 0) continue;
        received = true;
        changed ||= batch.some((event) => event.type !== 'BOOKMARK');
        await this.#apply(batch);
        this.#recovered();
      }
    } catch (error) {
      if (open && !received && isApiError(error) && error.reason === 'Timeout') this.#versions.countSilentWatch();
      throw error;
    }
    if (changed || signal.aborted) return;
    if (clock.monotonic() - started >= shortWatchMs) this.#recovered();
    else throw readerError('retry', 'WatchEndedEarly', 'the server ended the watch immediately');
  }

  /**
   * Throws ApiError `gone` if the cluster's current resourceVersion is older than the delivered one: its etcd was restored
   * from a backup. A watch would not show that: API servers leave out events and bookmarks that are older than its start.
   */
  async #checkHistory(signal: AbortSignal): Promise<void> {
    const { cluster, resource, clock } = this.#options;
    const { resourceVersion } = await cluster.list(resource, { limit: 1, continueToken: '', onItem: () => {} }, signal);
    this.#lastHeardMs = clock.monotonic();
    this.#versions.checkCurrent(resourceVersion);
  }

  async #apply(batch: readonly WatchEvent[]): Promise<void> {
    const events: WatchEvent<T>[] = [];
    let resourceVersion = this.#resourceVersion;
    for (const event of batch) {
      if (event.type === 'BOOKMARK') {
        this.#versions.checkBookmark(event.resourceVersion, resourceVersion);
        resourceVersion = event.resourceVersion;
        events.push(event);
        continue;
      }
      const version = resourceVersionOf(event.object);
      if (this.#versions.isOutdated(version, resourceVersion)) {
        this.#outdated++;
        continue;
      }
      resourceVersion = version;
      const decoded = this.#decode(event.object);
      if (decoded !== undefined) events.push({ type: event.type, object: decoded.value });
    }
    if (events.length > 0) await this.#options.sink.apply(events);
    this.#advance(resourceVersion);
  }

  #advance(resourceVersion: string): void {
    this.#resourceVersion = resourceVersion;
    this.#versions.advance(resourceVersion);
  }

  #recovered(): void {
    this.#failures = 0;
    this.#goneInRow = 0;
  }

  #decode(object: RawObject): { readonly value: T } | undefined {
    const { decode, resource } = this.#options;
    try {
      return { value: decode(object) };
    } catch (error) {
      this.#skip(describe(resource, object, errorMessage(error)));
      return undefined;
    }
  }

  readonly #skip = (skipped: SkippedObject): void => {
    const { logger, onSkipped } = this.#options;
    this.#skipped++;
    logger.warn('skipping malformed object', { ...skipped });
    onSkipped?.(skipped);
  };

  async #wait(error: ApiError, signal: AbortSignal): Promise<void> {
    const { clock, random, logger, resource, onError } = this.#options;
    const gone = error.kind === 'gone';
    if (gone) this.#resourceVersion = '';
    // A single 410 is routine, so it relists without delay, unless it repeats.
    const immediately = gone && this.#goneInRow === 0;
    // It shows that the server answers again, so an outage before it does not count.
    const goneBefore = gone ? this.#goneInRow++ - 1 : undefined;
    // A cluster that refuses after an outage may not have loaded its permissions yet, so its refusals count from the first.
    if (isTransient(error) !== this.#isTransient) this.#failures = 0;
    this.#isTransient = isTransient(error);
    const failures =
      goneBefore ?? (this.#versions.isStale ? Math.min(this.#failures, maxStaleFailures) : this.#failures);
    const retryInMs = immediately ? 0 : retryDelayMs(error, failures, random);
    this.#failures++;
    this.#errors++;
    const fields = { resource, reason: error.reason, status: error.status, error: error.message, retryInMs };
    // All reflectors of a cluster fail at once; an observer reports that once.
    const isReported = onError !== undefined && isOutage(error);
    logger[isReported ? 'debug' : 'warn'](gone ? 'watch expired; relisting' : 'list or watch failed; retrying', fields);
    onError?.(error, retryInMs);
    this.#enter('retrying', error.message);
    this.#isWaiting = true;
    if (retryInMs > 0) await sleep(clock, retryInMs, this.#untilRestart(signal));
    this.#isWaiting = false;
  }

  #enter(state: ReflectorState, detail: string): void {
    if (this.#state === state && state === 'watching') return;
    this.#state = state;
    this.#options.onState?.(state, detail);
  }
}
