import { BusClosedError, type StreamOffset } from '@sluice/bus';
import type { Resource } from '@sluice/kubernetes';
import type { Stamp } from '@sluice/messages';
import { backoffMs, type Clock, type Logger, type Random, sleep } from '@sluice/runtime';
import { type Checkpoint, isFencedError, type Store, type StoredEntry } from '@sluice/store';

export interface LedgerOptions {
  readonly store: Store;
  /** Identity of the cluster. */
  readonly cluster: string;
  /** Of this watcher's tenure. */
  readonly epoch: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/** Instead of a digest: something is being told of this Service. */
const telling = '';

/** Of the store, by the identity of the cluster. */
export const ledgerScope = (cluster: string): string => `watcher/${cluster}`;

/**
 * What the watchers of a cluster have told, as the store remembers it: a digest of each Service that nothing is being told
 * of, and how far requests were answered. The next watcher says nothing of what has not changed.
 *
 * Before anything is told of a Service its digest is taken out. So a digest in the store is never older than what was
 * told, whenever a watcher dies, and a watcher that was replaced without noticing is refused before it tells anything.
 */
export class Ledger {
  /** Every Service that was told of before this tenure, by formatted key. */
  readonly remembered: ReadonlySet<string>;
  readonly #options: LedgerOptions;
  readonly #scope: string;
  /** By formatted key. What is here is or will be in the store, in this order. */
  readonly #digests = new Map<string, string>();
  readonly #lasts = new Map<number, Stamp>();
  readonly #versions = new Map<Resource, string>();
  #requests: StreamOffset | undefined;
  #checkpoint: Checkpoint;
  /** Entries that wait for the next commit, by key and field. */
  readonly #wanted = new Map<string, StoredEntry>();
  /** Services that are being told of, though the store may not know it yet. */
  readonly #unsaid = new Set<string>();
  #running: Promise<void> = Promise.resolve();
  #next: Promise<void> | undefined;
  readonly #over = new AbortController();
  readonly #closed = new AbortController();
  readonly #ended = AbortSignal.any([this.#over.signal, this.#closed.signal]);

  private constructor(options: LedgerOptions, scope: string, checkpoint: Checkpoint | null, intact: boolean) {
    this.#options = options;
    this.#scope = scope;
    this.#checkpoint = checkpoint ?? nowhere;
    if (intact && this.#checkpoint.streamId !== '') this.#requests = this.#checkpoint;
    this.remembered = new Set();
  }

  /** Takes it over. Throws FencedError if a newer watcher has it. */
  static async claim(options: LedgerOptions): Promise<Ledger> {
    const scope = ledgerScope(options.cluster);
    const { checkpoint, intact, entries } = await options.store.claim(scope, options.epoch);
    const ledger = new Ledger(options, scope, checkpoint, intact);
    for (const entry of entries) ledger.#load(entry);
    // Digests may be older than what was told, or there is no telling what was asked for: all is told again.
    if (ledger.#requests === undefined) {
      ledger.#forgetDigests();
      await ledger.#flush();
    }
    return ledger;
  }

  /** Aborts, with the reason, once a newer watcher has taken over. */
  get over(): AbortSignal {
    return this.#over.signal;
  }

  /** Up to where requests were answered; undefined if that is not known. */
  get requests(): StreamOffset | undefined {
    return this.#requests;
  }

  /** Of what was told last; undefined if something may have been told since. */
  digest(service: string): string | undefined {
    return this.#digests.get(service) || undefined;
  }

  /** The last Change in a partition when digests were stored last. */
  last(partition: number): Stamp | undefined {
    return this.#lasts.get(partition);
  }

  /** Up to which version a resource was known; empty if nothing was. */
  version(resource: Resource): string {
    return this.#versions.get(resource) ?? '';
  }

  /** To be awaited before anything is told of these Services; undefined if the store knows already. */
  begin(services: readonly string[]): Promise<void> | undefined {
    for (const service of services) this.#tell(service);
    return services.some((service) => this.#unsaid.has(service)) ? this.#flush() : undefined;
  }

  /**
   * All that is known of these Services has been told, and is kept by the bus. A digest of undefined: nothing is left of
   * the Service, and it is forgotten.
   */
  settle(digests: ReadonlyMap<string, string | undefined>, lasts: ReadonlyMap<number, Stamp>): Promise<void> {
    for (const [service, digest] of digests) {
      if (digest === undefined) this.#digests.delete(service);
      else this.#digests.set(service, digest);
      this.#want(service, 'told', digest);
    }
    for (const [partition, stamp] of lasts) {
      this.#lasts.set(partition, stamp);
      this.#want(this.#options.cluster, `last/${partition}`, stamp);
    }
    return this.#flush();
  }

  /** Nothing older than these was told. */
  reached(versions: ReadonlyMap<Resource, string>): Promise<void> | undefined {
    const news = [...versions].filter(([resource, version]) => this.#versions.get(resource) !== version);
    for (const [resource, version] of news) {
      this.#versions.set(resource, version);
      this.#want(this.#options.cluster, `version/${resource}`, version);
    }
    return news.length > 0 ? this.#flush() : undefined;
  }

  /** Requests up to the cursor ask for these Services. They will be told, by the next watcher if not by this one. */
  answered(cursor: StreamOffset, services: readonly string[]): Promise<void> {
    for (const service of services) this.#tell(service);
    this.#requests = cursor;
    return this.#flush();
  }

  /** Gives up what is not stored yet: a store that is away for good shall not keep a watcher that has ended. */
  close(): void {
    this.#closed.abort(new BusClosedError('the watcher has ended'));
  }

  /** Waits for what is to be stored. */
  async saved(): Promise<void> {
    await (this.#next ?? this.#running);
  }

  #tell(service: string): void {
    if (this.#digests.get(service) === telling) return;
    this.#digests.set(service, telling);
    this.#unsaid.add(service);
    this.#want(service, 'told', telling);
  }

  #want(key: string, field: string, value: unknown): void {
    this.#wanted.set(`${key} ${field}`, { key, field, value });
  }

  /** One commit at a time; whoever comes meanwhile shares the next. */
  #flush(): Promise<void> {
    this.#next ??= this.#running
      .catch(() => {})
      .then(() => {
        this.#next = undefined;
        this.#running = this.#commit();
        return this.#running;
      });
    return this.#next;
  }

  async #commit(): Promise<void> {
    const { clock, random, logger } = this.#options;
    for (let attempt = 0; ; attempt++) {
      this.#ended.throwIfAborted();
      try {
        return await this.#tryCommit();
      } catch (error) {
        const delayMs = backoffMs({ baseMs: 20, maxMs: 2_000 }, attempt, random);
        logger.warn('what was told could not be noted; trying again', { error, delayMs });
        await sleep(clock, delayMs, this.#ended);
        this.#ended.throwIfAborted();
        await this.#claimAgain();
      }
    }
  }

  async #tryCommit(): Promise<void> {
    const entries = [...this.#wanted.values()];
    const checkpoint = this.#requests ?? this.#checkpoint;
    if (entries.length === 0 && checkpoint === this.#checkpoint) return;
    const unsaid = [...this.#unsaid];
    const { store, epoch: fencingToken } = this.#options;
    const expectedOffset = this.#checkpoint.offset;
    await store.commit({ scope: this.#scope, fencingToken, expectedOffset, checkpoint, entries });
    this.#checkpoint = checkpoint;
    for (const entry of entries) {
      const name = `${entry.key} ${entry.field}`;
      if (this.#wanted.get(name) === entry) this.#wanted.delete(name);
    }
    // One that was settled and is told of again meanwhile waits for the next commit.
    for (const service of unsaid) if (!this.#wanted.has(`${service} told`)) this.#unsaid.delete(service);
  }

  /** After a commit of which nobody knows whether it was carried out. What the store has may be anything, so all is open. */
  async #claimAgain(): Promise<void> {
    const { store, epoch } = this.#options;
    try {
      const { checkpoint } = await store.claim(this.#scope, epoch);
      this.#checkpoint = checkpoint ?? nowhere;
      this.#forgetDigests();
    } catch (error) {
      if (isFencedError(error)) this.#over.abort(error);
    }
  }

  #forgetDigests(): void {
    for (const service of this.#digests.keys()) {
      this.#digests.set(service, telling);
      this.#unsaid.add(service);
      this.#want(service, 'told', telling);
    }
  }

  #load({ key, field, value }: StoredEntry): void {
    const [kind, name = ''] = field.split('/');
    if (kind === 'told') {
      this.#digests.set(key, value as string);
      (this.remembered as Set<string>).add(key);
    } else if (kind === 'last') this.#lasts.set(Number(name), value as Stamp);
    else if (kind === 'version') this.#versions.set(name as Resource, value as string);
  }
}

const nowhere: Checkpoint = { offset: 0, id: '', streamId: '' };
