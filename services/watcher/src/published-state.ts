import { BusClosedError, type StreamOffset } from '@sluice/bus';
import { type ClusterReader, type Resource, resourcesOfReader } from '@sluice/kubernetes';
import { isServiceKey, isStamp, parseServiceKey, type Stamp } from '@sluice/messages';
import { backoffMs, type Clock, type Logger, type Random, sleep } from '@sluice/platform';
import { isFencedError, OwnedScope, type Store, type StoredEntry } from '@sluice/store';

interface PublishedStateOptions {
  readonly store: Store;
  /** Identity of the cluster. */
  readonly cluster: string;
  /** Fencing token of this watcher's lease. */
  readonly fencingToken: number;
  readonly reader?: Pick<ClusterReader, 'resources'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/** Stored in place of a digest while a Change of the Service may be in flight. */
const publishing = '';

const allResources = resourcesOfReader({}).join();

/** Raise it with every change that another version of the watcher would misread. */
const formatVersion = 1;

/** Scope of a cluster's checkpoint in the store. */
export const publishedStateScope = (cluster: string): string => `watcher/${cluster}`;

/**
 * Checkpoint of what the watchers of a cluster have published: a digest of each Service that is not being published, and
 * the offset up to which resync requests were answered. A restarted watcher publishes only Services that changed.
 *
 * A Service's digest is removed before the Service is published. A stored digest is therefore never older than the last
 * Change, whenever a watcher dies, and a fenced watcher fails before it publishes anything.
 */
export class PublishedState {
  readonly #restoredServices = new Set<string>();
  readonly #options: PublishedStateOptions;
  readonly #scope: OwnedScope;
  /** By formatted key. Equal to the store once all pending entries are committed. */
  readonly #digests = new Map<string, string>();
  readonly #lastStamps = new Map<number, Stamp>();
  readonly #resourceVersions = new Map<Resource, string>();
  #requestOffset: StreamOffset | undefined;
  #resetting = false;
  /** Resources that the last watcher watched. */
  #watched = allResources;
  /** Entries for the next commit, by key and field. */
  readonly #pending = new Map<string, StoredEntry>();
  /** Services that are being published while the store may still have their digest. */
  readonly #uncommitted = new Set<string>();
  #committing: Promise<void> = Promise.resolve();
  #nextCommit: Promise<void> | undefined;
  readonly #fenced = new AbortController();
  readonly #closed = new AbortController();
  readonly #stopped = AbortSignal.any([this.#fenced.signal, this.#closed.signal]);

  private constructor(options: PublishedStateOptions) {
    const { store, cluster, fencingToken } = options;
    this.#options = options;
    this.#scope = new OwnedScope({ store, scope: publishedStateScope(cluster), fencingToken, formatVersion });
  }

  /** Claims the cluster's checkpoint. Throws FencedError if a newer watcher has claimed it. */
  static async claim(options: PublishedStateOptions): Promise<PublishedState> {
    const state = new PublishedState(options);
    await state.#restore();
    return state;
  }

  /** Services that previous watchers published, by formatted key. */
  get restoredServices(): ReadonlySet<string> {
    return this.#restoredServices;
  }

  /** Aborts, with the reason, once a newer watcher has taken over. */
  get fenced(): AbortSignal {
    return this.#fenced.signal;
  }

  /** Offset of the last answered resync request, or undefined if unknown. */
  get requestOffset(): StreamOffset | undefined {
    return this.#requestOffset;
  }

  /** Digest of the Service as last published, or undefined if a later Change may have been published. */
  digest(service: string): string | undefined {
    return this.#digests.get(service) || undefined;
  }

  /** Stamp of the partition's last Change when its digests were last committed. */
  lastStamp(partition: number): Stamp | undefined {
    return this.#lastStamps.get(partition);
  }

  /** resourceVersion that a previous watcher had reached; empty if none. */
  resourceVersion(resource: Resource): string {
    return this.#resourceVersions.get(resource) ?? '';
  }

  /** Whether a reset of the cluster's state has started, by this or a previous watcher, and may be incomplete. */
  get isResetting(): boolean {
    return this.#resetting;
  }

  /** Discards everything, and records that reconcilers must discard what they know of the cluster, too. */
  beginReset(): Promise<void> {
    // Reachable: state of a restored cluster discarded
    this.#resetting = true;
    for (const service of this.#digests.keys()) this.#put(service, 'digest', undefined);
    for (const partition of this.#lastStamps.keys())
      this.#put(this.#options.cluster, `lastStamp/${partition}`, undefined);
    for (const resource of this.#resourceVersions.keys()) {
      this.#put(this.#options.cluster, `resourceVersion/${resource}`, undefined);
    }
    this.#digests.clear();
    this.#lastStamps.clear();
    this.#resourceVersions.clear();
    this.#restoredServices.clear();
    this.#put(this.#options.cluster, 'resetting', true);
    return this.#commitPending();
  }

  /** Every reconciler has received the request to discard its state of the cluster. */
  endReset(): Promise<void> {
    this.#resetting = false;
    this.#put(this.#options.cluster, 'resetting', undefined);
    return this.#commitPending();
  }

  /** Await before publishing these Services. Undefined if the store has none of their digests. */
  beginPublishing(services: readonly string[]): Promise<void> | undefined {
    for (const service of services) this.#removeDigest(service);
    return services.some((service) => this.#uncommitted.has(service)) ? this.#commitPending() : undefined;
  }

  /**
   * Commits digests of Services whose current state the bus has accepted. An undefined digest means that nothing is left
   * of the Service, and removes its entry.
   */
  commitDigests(
    digests: ReadonlyMap<string, string | undefined>,
    lastStamps: ReadonlyMap<number, Stamp>,
  ): Promise<void> {
    for (const [service, digest] of digests) {
      if (digest === undefined) this.#digests.delete(service);
      else this.#digests.set(service, digest);
      this.#put(service, 'digest', digest);
    }
    for (const [partition, stamp] of lastStamps) {
      this.#lastStamps.set(partition, stamp);
      this.#put(this.#options.cluster, `lastStamp/${partition}`, stamp);
    }
    return this.#commitPending();
  }

  /** Commits the resourceVersions that the watcher has reached. Undefined if none has changed. */
  commitResourceVersions(versions: ReadonlyMap<Resource, string>): Promise<void> | undefined {
    const changed = [...versions].filter(([resource, version]) => this.#resourceVersions.get(resource) !== version);
    for (const [resource, version] of changed) {
      this.#resourceVersions.set(resource, version);
      this.#put(this.#options.cluster, `resourceVersion/${resource}`, version);
    }
    return changed.length > 0 ? this.#commitPending() : undefined;
  }

  /** Records that requests up to `offset` ask for these Services: this watcher, or else the next, publishes them. */
  commitRequestOffset(offset: StreamOffset, services: readonly string[]): Promise<void> {
    for (const service of services) this.#removeDigest(service);
    this.#requestOffset = offset;
    return this.#commitPending();
  }

  /** Drops pending commits, so that an unavailable store does not delay shutdown. */
  close(): void {
    this.#closed.abort(new BusClosedError('the watcher has stopped'));
  }

  #removeDigest(service: string): void {
    if (this.#digests.get(service) === publishing) return;
    this.#digests.set(service, publishing);
    this.#uncommitted.add(service);
    this.#put(service, 'digest', publishing);
  }

  #put(key: string, field: string, value: unknown): void {
    this.#pending.set(`${key} ${field}`, { key, field, value });
  }

  /** One commit runs at a time; callers that arrive meanwhile share the next one. */
  #commitPending(): Promise<void> {
    this.#nextCommit ??= this.#committing
      .catch(() => {})
      .then(() => {
        this.#nextCommit = undefined;
        this.#committing = this.#commit();
        return this.#committing;
      });
    return this.#nextCommit;
  }

  async #commit(): Promise<void> {
    const { clock, random, logger } = this.#options;
    for (let attempt = 0; ; attempt++) {
      this.#stopped.throwIfAborted();
      try {
        return await this.#tryCommit();
      } catch (error) {
        const retryInMs = backoffMs({ baseMs: 20, maxMs: 2_000 }, attempt, random);
        logger.warn('saving published state failed; retrying', { retryInMs, error });
        await sleep(clock, retryInMs, this.#stopped);
        this.#stopped.throwIfAborted();
        await this.#reclaim();
      }
    }
  }

  async #tryCommit(): Promise<void> {
    const changed = [...this.#pending.values()];
    const uncommitted = [...this.#uncommitted];
    await this.#scope.commit(this.#requestOffset ?? this.#scope.checkpoint, changed);
    for (const entry of changed) {
      const name = `${entry.key} ${entry.field}`;
      if (this.#pending.get(name) === entry) this.#pending.delete(name);
    }
    // A Service that became quiet and dirty again during the commit waits for the next one.
    for (const service of uncommitted) if (!this.#pending.has(`${service} digest`)) this.#uncommitted.delete(service);
  }

  /** The outcome of the failed commit is unknown, so the stored digests are not trusted. */
  async #reclaim(): Promise<void> {
    try {
      await this.#scope.claim();
      // Reachable: digests discarded after a failed commit
      this.#discardDigests();
    } catch (error) {
      if (isFencedError(error)) {
        // Reachable: watcher fenced by its successor
        this.#fenced.abort(error);
      }
    }
  }

  #discardDigests(): void {
    for (const service of this.#digests.keys()) {
      this.#digests.set(service, publishing);
      this.#uncommitted.add(service);
      this.#put(service, 'digest', publishing);
    }
  }

  async #restore(): Promise<void> {
    const { intact, entries, isReadable } = await this.#scope.claim();
    const { checkpoint } = this.#scope;
    const isLoaded = isReadable && entries.every((entry) => this.#load(entry));
    if (isLoaded && intact && checkpoint.streamId !== '' && this.#watchesTheSame()) {
      this.#requestOffset = checkpoint;
      return;
    }
    if (!isLoaded) this.#discardUnreadable(entries);
    // The store may have lost commits or resync requests, so every Service is published again.
    this.#discardDigests();
    await this.#commitPending();
  }

  /** Records what is watched. What was published by a watcher of other resources lacks some, or has more. */
  #watchesTheSame(): boolean {
    const watched = resourcesOfReader(this.#options.reader ?? {}).join();
    const before = this.#watched;
    if (watched === before) return true;
    this.#put(this.#options.cluster, 'watched', watched === allResources ? undefined : watched);
    return false;
  }

  #discardUnreadable(entries: readonly StoredEntry[]): void {
    const { logger, cluster } = this.#options;
    // Reachable: stored state of a watcher unreadable
    logger.warn('stored state unreadable; publishing every service', { formatVersion });
    this.#lastStamps.clear();
    this.#resourceVersions.clear();
    this.#scope.discard();
    for (const { key } of entries) {
      // Also in an unknown form: the watcher must publish that a Service was deleted while no watcher ran.
      if (!isServiceKey(key) || parseServiceKey(key).cluster !== cluster) continue;
      this.#restoredServices.add(key);
      this.#removeDigest(key);
    }
  }

  /** Returns false if the entry is unreadable. */
  #load({ key, field, value }: StoredEntry): boolean {
    const [kind, name = ''] = field.split('/');
    switch (kind) {
      case 'digest':
        if (typeof value !== 'string') return false;
        this.#digests.set(key, value);
        this.#restoredServices.add(key);
        return true;
      case 'lastStamp':
        if (!isStamp(value)) return false;
        this.#lastStamps.set(Number(name), value);
        return true;
      case 'resourceVersion':
        if (typeof value !== 'string') return false;
        this.#resourceVersions.set(name as Resource, value);
        return true;
      case 'watched':
        if (typeof value !== 'string') return false;
        this.#watched = value;
        return true;
      case 'resetting':
        this.#resetting = true;
        return value === true;
      default:
        return false;
    }
  }
}
