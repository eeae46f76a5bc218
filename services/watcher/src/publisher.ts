import { type Bus, BusClosedError, type BusRecord } from '@sluice/bus';
import { type Cause, formatServiceKey, parseServiceKey, partitionOf, type Stamp, shortDigest } from '@sluice/messages';
import {
  backoffMs,
  type Cancel,
  type Clock,
  type Logger,
  type Random,
  sleep,
  untilTick,
  type YieldQueue,
} from '@sluice/platform';
import type { Tracer } from '@sluice/telemetry';
import { ChangeRecords, type ChangeSequence } from './change-records.ts';
import { ChangeTraces, type TracedChange } from './change-traces.ts';
import { digestService } from './compose-changes.ts';
import { type DirtyEntry, type DirtyReason, DirtySet, isWatchEcho, PublishedServices } from './dirty-set.ts';
import type { Indexer } from './indexer.ts';
import type { PublishedState } from './published-state.ts';
import { ResyncPace } from './resync-pace.ts';
import { objectName } from './watched-objects.ts';

export interface PublisherOptions {
  /** Identity of the cluster. */
  readonly cluster: string;
  /** Fencing token of this watcher's lease; increases with each take-over. */
  readonly fencingToken: number;
  /** Default: the Changes of this publisher are the first under this fencing token. */
  readonly sequence?: ChangeSequence;
  readonly bus: Bus;
  readonly indexer: Indexer;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Shared by all work of the process that must not block the event loop. Default: no yielding. */
  readonly yieldQueue?: YieldQueue | undefined;
  /** Default: no traces. */
  readonly tracer?: Tracer | undefined;
  /** Checkpoint for the next watcher. Default: none. */
  readonly publishedState?: PublishedState | undefined;
  /** A Service's digest is persisted after this much time without changes, so a busy Service causes no store writes. Default: 10 s. */
  readonly digestQuietPeriodMs?: number | undefined;
}

interface PublishPartition {
  readonly dirty: DirtySet;
  /** Services in the append currently in flight. */
  readonly inFlight: Set<ReadonlySet<string>>;
  running: boolean;
  /** Resolves when the current or last run ends. */
  done: Promise<void>;
  /** Resolves when the log has all Changes that were published. */
  stored: Promise<void>;
  /** Whether a Change of this watcher is in the log, so that readers know what preceded the next one. */
  isContinued: boolean;
  readonly pace: ResyncPace;
  /** Stamp of the partition's last Change, perhaps a previous watcher's; sequence 0 if there was none. */
  lastStamp: Stamp;
  /** Stamp of the last Change that the bus has accepted. Stored: a Change that was never published is no gap. */
  publishedStamp: Stamp;
}

/** Services per append at most: large enough to batch a cold start, small enough to let other work in between. */
const servicesPerAppend = 64;

/** The records of one append or delivery. */
interface PublishedBatch {
  readonly records: readonly BusRecord[];
  /** Services whose digest may be persisted once the log has the records. */
  readonly services: ReadonlySet<string>;
  /** Stamp of the last Change. */
  readonly lastStamp: Stamp;
}

const isInFlight = ({ inFlight }: PublishPartition, service: string) =>
  inFlight.values().some((services) => services.has(service));

const defaultQuietPeriodMs = 10_000;
/**
 * Watch echoes are published with the next Change of their Service, or once in this time, in milliseconds, just before a worker appends
 * what it has delivered (`LocalDeliveryBus`).
 */
const watchEchoes = { intervalMs: 250, offsetMs: 185 };
/** Facts hashed per checkpoint at most: some ten milliseconds of computation. */
const factsPerCheckpoint = 2_500;

/**
 * Publishes Changes for dirty Services. While an append of a partition is in flight, further changes collect in the
 * partition's dirty set. The backlog is therefore bounded by the number of objects, not of events, and a slow bus gets
 * fewer and larger messages.
 */
export class Publisher {
  readonly #options: PublisherOptions;
  readonly #partitions: readonly PublishPartition[];
  readonly #records: ChangeRecords;
  readonly #traces: ChangeTraces | undefined;
  readonly #published = new PublishedServices();
  /** Services whose changes are not published because an object of theirs cannot be decoded. */
  readonly #withheld = new Set<string>();
  /** When a Service whose digest is not persisted was last published, by the monotonic clock; oldest first. */
  readonly #publishedAt = new Map<string, number>();
  /** Cancels the next publication of watch echoes. */
  #cancelTick: Cancel | undefined;
  #closed = false;

  constructor(options: PublisherOptions) {
    const { bus, fencingToken, publishedState, tracer } = options;
    this.#options = options;
    this.#traces = tracer && new ChangeTraces({ ...options, tracer });
    this.#records = new ChangeRecords({
      ...options,
      sequence: options.sequence ?? { last: 0 },
      limits: () => bus.limits,
      traces: this.#traces,
    });
    this.#partitions = Array.from({ length: bus.partitions }, (_, partition) => {
      const lastStamp = publishedState?.lastStamp(partition) ?? { epoch: fencingToken, sequence: 0 };
      return {
        dirty: new DirtySet(),
        pace: new ResyncPace(options.clock),
        inFlight: new Set<ReadonlySet<string>>(),
        running: false,
        done: Promise.resolve(),
        stored: Promise.resolve(),
        isContinued: false,
        lastStamp,
        publishedStamp: lastStamp,
      };
    });
  }

  /** Services that a Change was published for, including those that were deleted since. */
  get published(): PublishedServices {
    return this.#published;
  }

  markDirty(namespace: string, service: string, reason: DirtyReason, cause?: Cause): void {
    const key = { cluster: this.#options.cluster, namespace, service };
    const text = formatServiceKey(key);
    const number = partitionOf(text, this.#partitions.length);
    const partition = this.#partitions[number];
    if (partition === undefined || this.#closed) return;
    const entry = partition.dirty.add(text, key, reason, cause);
    const isCause = cause !== undefined && entry.isWatchEcho === isWatchEcho(reason);
    if (this.#traces !== undefined && isCause) entry.traces = this.#traces.start(entry.traces, cause);
    if (this.#published.add(text)) entry.snapshot = true;
    if (!isWatchEcho(reason)) return this.#start(number, partition);
    const { clock } = this.#options;
    this.#cancelTick ??= clock.schedule(untilTick(clock, watchEchoes.intervalMs, watchEchoes.offsetMs), () =>
      this.#startAll(),
    );
  }

  /** Publishes a dirty Service at once, before another object changes. For a bus that stores records at once. */
  publish(namespace: string, service: string): void {
    const text = formatServiceKey({ cluster: this.#options.cluster, namespace, service });
    const number = partitionOf(text, this.#partitions.length);
    const partition = this.#partitions[number];
    if (partition === undefined || this.#closed) return;
    const published = this.#publish(number, partition, [text]);
    published.catch((error: unknown) => this.#stopped(number, error));
  }

  /** A reader has requested a resync of the partition. If the last one did not reach it, this one is sent more slowly. */
  resyncRequested(partition: number): void {
    this.#partitions[partition]?.pace.resyncRequested();
  }

  /** Services published since their digest was last persisted. */
  get awaitingCheckpoint(): number {
    return this.#publishedAt.size;
  }

  /**
   * Persists digests of Services that have been quiet for a while and have nothing dirty or in flight, for a few
   * milliseconds of hashing. With `all`, of every Service that has nothing dirty or in flight.
   */
  async checkpoint(all = false): Promise<void> {
    const { publishedState, indexer, clock, yieldQueue, digestQuietPeriodMs = defaultQuietPeriodMs } = this.#options;
    if (publishedState === undefined || this.#publishedAt.size === 0) return;
    // All clusters of a process do this at the same moment.
    await yieldQueue?.next();
    const digests = new Map<string, string | undefined>();
    const lastStamps = new Map<number, Stamp>();
    let facts = 0;
    for (const [text, at] of this.#publishedAt) {
      if (!all && (facts > factsPerCheckpoint || clock.monotonic() - at < digestQuietPeriodMs)) break;
      const number = partitionOf(text, this.#partitions.length);
      const partition = this.#partitions[number];
      if (partition === undefined || partition.dirty.has(text) || isInFlight(partition, text)) continue;
      // The indexer lacks what was published: an entry that is removed now would hide its deletion from the next watcher.
      if (this.#withheld.has(text)) {
        this.#publishedAt.delete(text);
        continue;
      }
      const { namespace, service } = parseServiceKey(text);
      const digest = digestService(indexer, namespace, service);
      digests.set(text, digest && shortDigest(digest));
      facts += 1 + indexer.podsOfService(objectName(namespace, service)).size;
      lastStamps.set(number, partition.publishedStamp);
      this.#publishedAt.delete(text);
    }
    await publishedState.commitDigests(digests, lastStamps);
  }

  /** Publishes what is dirty, without further delay. Resolves once nothing is in flight. */
  async idle(): Promise<void> {
    this.#startAll();
    await Promise.all(this.#partitions.map(({ done }) => done));
    this.#options.bus.flush?.();
    await Promise.all(this.#partitions.map(({ stored }) => stored));
  }

  close(): void {
    this.#closed = true;
    this.#cancelTick?.();
  }

  #startAll(): void {
    this.#cancelTick?.();
    this.#cancelTick = undefined;
    for (const [number, partition] of this.#partitions.entries()) {
      if (partition.dirty.size > 0) this.#start(number, partition);
    }
  }

  #start(number: number, partition: PublishPartition): void {
    if (partition.running) return;
    partition.running = true;
    // Deferred, so that the rest of the current batch of watch events goes into the same Change.
    partition.done = Promise.resolve().then(() => this.#run(number, partition));
  }

  async #run(number: number, partition: PublishPartition): Promise<void> {
    const { publishedState, yieldQueue } = this.#options;
    try {
      while (partition.dirty.size > 0 && !this.#closed) {
        const services = partition.dirty.first(servicesPerAppend);
        await publishedState?.beginPublishing(services);
        await yieldQueue?.next();
        await this.#publish(number, partition, services);
      }
    } catch (error) {
      this.#stopped(number, error);
    } finally {
      partition.running = false;
    }
  }

  /** The records leave before this returns. Resolves when the next ones may follow. */
  async #publish(number: number, partition: PublishPartition, services: readonly string[]): Promise<void> {
    const traced: TracedChange[] = [];
    const batch = this.#take(partition, services, traced);
    const delivered = this.#deliver(number, partition, batch);
    if (delivered !== undefined) {
      partition.stored = Promise.all([partition.stored, delivered]).then(() => this.#appended(partition, batch));
      partition.stored.catch((error: unknown) => this.#stopped(number, error));
    } else {
      if (batch.records.length > 0) await this.#appendPaced(number, this.#rateOf(partition), batch.records);
      await partition.stored;
      this.#appended(partition, batch);
    }
    this.#traces?.published(number, traced);
  }

  #stopped(partition: number, error: unknown): void {
    const { publishedState, logger } = this.#options;
    if (error instanceof BusClosedError || publishedState?.fenced.aborted) return;
    logger.error('publishing stopped', { topic: 'changes', partition, error });
  }

  /** Undefined: the records must be appended. */
  #deliver(number: number, partition: PublishPartition, { records }: PublishedBatch) {
    if (records.length === 0 || !partition.isContinued || this.#rateOf(partition) !== undefined) return undefined;
    return this.#options.bus.deliver?.('changes', number, records);
  }

  #take(partition: PublishPartition, services: readonly string[], traced: TracedChange[]): PublishedBatch {
    const inFlight = new Set<string>();
    partition.inFlight.add(inFlight);
    const records = services.flatMap((text) => {
      const dirty = partition.dirty.take(text);
      if (dirty === undefined || this.#isWithheld(text, dirty)) return [];
      const { records, lastStamp, isPublishable } = this.#records.of(dirty, partition.lastStamp, traced);
      partition.lastStamp = lastStamp;
      const isEmptied = !this.#options.indexer.has(dirty.key.namespace, dirty.key.service);
      // The next Change of either starts with a snapshot.
      if (isEmptied || !isPublishable) this.#published.markEmptied(text);
      // Without a stored digest the next watcher tries as well.
      if (isPublishable) inFlight.add(text);
      else this.#publishedAt.delete(text);
      return records;
    });
    return { records, services: inFlight, lastStamp: partition.lastStamp };
  }

  /**
   * Withholds a Service while an object of it cannot be decoded, so that the reconciler keeps the last valid state and
   * deletes nothing. The first Change after that is a snapshot.
   */
  #isWithheld(text: string, dirty: DirtyEntry): boolean {
    const { namespace, service: name } = dirty.key;
    if (this.#options.indexer.isUndecodable(namespace, name)) {
      if (!this.#withheld.has(text)) {
        const service = objectName(namespace, name);
        this.#options.logger.warn('withholding changes of a service that cannot be decoded', { service });
      }
      this.#withheld.add(text);
      return true;
    }
    if (this.#withheld.delete(text)) {
      dirty.snapshot = true;
      dirty.initial = true;
    }
    return false;
  }

  #appended(partition: PublishPartition, { records, services, lastStamp }: PublishedBatch): void {
    if (this.#options.publishedState !== undefined) {
      const now = this.#options.clock.monotonic();
      for (const text of services) {
        // Deleted first, so that it moves to the end: the Services that have been quiet for longest come first.
        this.#publishedAt.delete(text);
        this.#publishedAt.set(text, now);
      }
    }
    partition.inFlight.delete(services);
    partition.publishedStamp = lastStamp;
    partition.isContinued ||= records.length > 0;
  }

  /** Bytes per second; undefined: no limit. A bus without limits keeps records until they are read. */
  #rateOf({ pace }: PublishPartition): number | undefined {
    const isUnlimited = this.#options.bus.limits.recordBytes === Number.POSITIVE_INFINITY;
    return isUnlimited ? undefined : pace.bytesPerSecond;
  }

  async #appendPaced(
    partition: number,
    bytesPerSecond: number | undefined,
    records: readonly BusRecord[],
  ): Promise<void> {
    const { clock, logger } = this.#options;
    if (bytesPerSecond === undefined) return this.#append(partition, records);
    logger.debug('publishing at a limited rate', { topic: 'changes', partition, bytesPerSecond });
    for (const record of records) {
      await this.#append(partition, [record]);
      await sleep(clock, (record.payload.length / bytesPerSecond) * 1_000);
      if (this.#closed) throw new BusClosedError('the watcher has stopped');
    }
  }

  /** Retries the same records with the same ids until the bus accepts them, before any later ones of the partition. */
  async #append(partition: number, records: readonly BusRecord[]): Promise<void> {
    const { bus, clock, random, logger } = this.#options;
    for (let attempt = 0; ; attempt++) {
      try {
        await bus.append('changes', partition, records);
        return;
      } catch (error) {
        if (error instanceof BusClosedError || this.#closed) throw error;
        // Reachable: append retried by a watcher
        const retryInMs = backoffMs({ baseMs: 50, maxMs: 5_000 }, attempt, random);
        logger.warn('publish failed; retrying', { topic: 'changes', partition, attempt, retryInMs, error });
        await sleep(clock, retryInMs);
      }
    }
  }
}
