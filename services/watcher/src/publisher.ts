import { type Bus, BusClosedError, type BusRecord } from '@sluice/bus';
import {
  type Cause,
  formatServiceKey,
  type PublishedResourceVersions,
  parseServiceKey,
  partitionOf,
  type Stamp,
  shortDigest,
} from '@sluice/messages';
import { backoffMs, type Clock, type Logger, type Random, sleep, type YieldQueue } from '@sluice/runtime';
import type { Tracer } from '@sluice/telemetry';
import { ChangeRecords, type ChangeSequence } from './change-records.ts';
import { ChangeTraces, type TracedChange } from './change-traces.ts';
import { digestService } from './compose-changes.ts';
import { type DirtyEntry, type DirtyReason, DirtySet } from './dirty-set.ts';
import type { Indexer } from './indexer.ts';
import { objectName } from './object-event.ts';
import { PublishedServices } from './published-services.ts';
import type { PublishedState } from './published-state.ts';
import { ResyncPace } from './resync-pace.ts';

export interface PublisherOptions {
  /** Identity of the cluster. */
  readonly cluster: string;
  /** Fencing token of this watcher's lease; increases with each take-over. */
  readonly fencingToken: number;
  /** Default: the Changes of this publisher are the first under this fencing token. */
  readonly sequence?: ChangeSequence;
  readonly bus: Bus;
  readonly indexer: Indexer;
  /** resourceVersion that the indexer has reached of each written resource. */
  readonly resourceVersions: () => PublishedResourceVersions;
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
  inFlight: ReadonlySet<string>;
  running: boolean;
  /** Resolves when the current or last run ends. */
  done: Promise<void>;
  readonly pace: ResyncPace;
  /** Stamp of the partition's last Change, perhaps a previous watcher's; sequence 0 if there was none. */
  lastStamp: Stamp;
  /** Stamp of the last Change that the bus has accepted. Stored: a Change that was never published is no gap. */
  publishedStamp: Stamp;
}

/** Services per append at most: large enough to batch a cold start, small enough to let other work in between. */
const servicesPerAppend = 64;

const defaultQuietPeriodMs = 10_000;
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
        inFlight: new Set<string>(),
        running: false,
        done: Promise.resolve(),
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
    if (this.#traces !== undefined && cause !== undefined) entry.traces = this.#traces.start(entry.traces, cause);
    if (this.#published.add(text)) entry.snapshot = true;
    if (partition.running) return;
    partition.running = true;
    // Deferred, so that the rest of the current batch of watch events goes into the same Change.
    partition.done = Promise.resolve().then(() => this.#run(number, partition));
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
   * Persists digests of Services that have been quiet for a while and have nothing dirty or in flight, as many as a few
   * milliseconds of hashing allow. With `all`, of every Service that has nothing dirty or in flight.
   */
  async checkpoint(all = false): Promise<void> {
    const { publishedState, indexer, clock, digestQuietPeriodMs = defaultQuietPeriodMs } = this.#options;
    if (publishedState === undefined) return;
    const digests = new Map<string, string | undefined>();
    const lastStamps = new Map<number, Stamp>();
    let facts = 0;
    for (const [text, at] of this.#publishedAt) {
      if (!all && (facts > factsPerCheckpoint || clock.monotonic() - at < digestQuietPeriodMs)) break;
      const number = partitionOf(text, this.#partitions.length);
      const partition = this.#partitions[number];
      if (partition === undefined || partition.dirty.has(text) || partition.inFlight.has(text)) continue;
      const { namespace, service } = parseServiceKey(text);
      const digest = digestService(indexer, namespace, service);
      digests.set(text, digest && shortDigest(digest));
      facts += 1 + indexer.podsOfService(objectName(namespace, service)).size;
      lastStamps.set(number, partition.publishedStamp);
      this.#publishedAt.delete(text);
    }
    if (digests.size > 0) await publishedState.commitDigests(digests, lastStamps);
  }

  /** Resolves once no Service is dirty or in flight. */
  async idle(): Promise<void> {
    await Promise.all(this.#partitions.map(({ done }) => done));
  }

  close(): void {
    this.#closed = true;
  }

  async #run(number: number, partition: PublishPartition): Promise<void> {
    const { publishedState, yieldQueue, logger } = this.#options;
    try {
      while (partition.dirty.size > 0 && !this.#closed) {
        const services = partition.dirty.first(servicesPerAppend);
        await publishedState?.beginPublishing(services);
        await yieldQueue?.next();
        const traced: TracedChange[] = [];
        const records = this.#take(partition, services, traced);
        if (records.length > 0) await this.#appendPaced(number, partition.pace, records);
        this.#appended(partition);
        this.#traces?.published(number, traced);
      }
    } catch (error) {
      if (!(error instanceof BusClosedError || publishedState?.fenced.aborted))
        logger.error('publishing stopped', { topic: 'changes', partition: number, error });
    } finally {
      partition.running = false;
    }
  }

  #take(partition: PublishPartition, services: readonly string[], traced: TracedChange[]): BusRecord[] {
    const inFlight = new Set<string>();
    partition.inFlight = inFlight;
    return services.flatMap((text) => {
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

  #appended(partition: PublishPartition): void {
    if (this.#options.publishedState !== undefined) {
      const now = this.#options.clock.monotonic();
      for (const text of partition.inFlight) {
        // Deleted first, so that it moves to the end: the Services that have been quiet for longest come first.
        this.#publishedAt.delete(text);
        this.#publishedAt.set(text, now);
      }
    }
    partition.inFlight = new Set();
    partition.publishedStamp = partition.lastStamp;
  }

  async #appendPaced(partition: number, { bytesPerSecond }: ResyncPace, records: readonly BusRecord[]): Promise<void> {
    const { bus, clock, logger } = this.#options;
    // A bus without limits keeps records until they are read.
    if (bytesPerSecond === Number.POSITIVE_INFINITY || bus.limits.recordBytes === Number.POSITIVE_INFINITY) {
      return this.#append(partition, records);
    }
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
