import { backoffMs, type Clock, type Random, sleep } from '@sluice/platform';
import { type Brokers, connectionFor, listOffsets } from './brokers.ts';
import { type FetchPartition, fetchRequest } from './fetch-request.ts';
import type { KafkaReader } from './kafka-reader.ts';
import { createErrorFromCode } from './kafkajs-internals.ts';
import type { OutageLogger } from './kafkajs-logger.ts';
import type { MetadataCache } from './metadata-cache.ts';
import { errorCode } from './protocol.ts';

/** A reader opened while a fetch waits joins the next one, at most this much later. */
const maxWaitMs = 50;
/** Every fetch lists all partitions, which costs both sides. This bounds the rate when records arrive one by one. */
const minIntervalMs = 4;
const maxBytes = 16 * 1024 * 1024;
const retryBackoff = { baseMs: 50, maxMs: 1_000 };
/** Stands for the node id of the leader while a partition has none. */
const noLeader = -1;

interface FetcherOptions {
  readonly brokers: Brokers;
  readonly metadata: MetadataCache;
  readonly outageLogger: OutageLogger;
  readonly clock: Clock;
  readonly random: Random;
  /** Size limit of a batch. */
  readonly partitionMaxBytes: number;
  readonly signal: AbortSignal;
}

/** The readers of one partition. The fetch offset is the lowest of theirs. */
interface PartitionFetch extends FetchPartition {
  readonly readers: readonly KafkaReader[];
}

/** Fetches for all readers: one request at a time per broker, for all partitions that it leads. */
export class Fetcher {
  readonly #options: FetcherOptions;
  readonly #readers = new Set<KafkaReader>();
  /** Node ids of brokers with a request in flight or in backoff. */
  readonly #busy = new Set<number>();
  readonly #failures = new Map<number, number>();
  #rotation = 0;

  constructor(options: FetcherOptions) {
    this.#options = options;
  }

  /** Call this when a reader is opened, is closed or has room again. */
  readonly update = (reader: KafkaReader): void => {
    if (reader.closed) this.#readers.delete(reader);
    else {
      this.#readers.add(reader);
      this.#run();
    }
  };

  close(): void {
    for (const reader of [...this.#readers]) reader.close();
  }

  #run(): void {
    if (this.#options.signal.aborted) return;
    const ready = [...this.#readers].filter(({ hasRoom }) => hasRoom);
    for (const [nodeId, readers] of Map.groupBy(ready, (reader) => this.#leaderOf(reader))) {
      if (this.#busy.has(nodeId)) continue;
      this.#busy.add(nodeId);
      void this.#fetchOrBackOff(nodeId, readers).finally(() => {
        this.#busy.delete(nodeId);
        this.#run();
      });
    }
  }

  #leaderOf({ topic, partition }: KafkaReader): number {
    return this.#options.metadata.leaderOf(topic, partition)?.nodeId ?? noLeader;
  }

  /** Never rejects: after a failure it backs off, and the readers verify their offsets again. */
  async #fetchOrBackOff(nodeId: number, readers: readonly KafkaReader[]): Promise<void> {
    const { clock, random, metadata, outageLogger, signal } = this.#options;
    const caller = `fetch from broker ${nodeId}`;
    const startedAt = clock.monotonic();
    try {
      if (nodeId === noLeader) await this.#findLeader(readers);
      else await this.#fetch(nodeId, readers);
      this.#failures.delete(nodeId);
      outageLogger.recovered(caller);
      const remainingMs = startedAt + minIntervalMs - clock.monotonic();
      if (remainingMs > 0) await sleep(clock, remainingMs, signal);
    } catch (error) {
      if (signal.aborted) return;
      outageLogger.failed(caller, error);
      for (const reader of readers) reader.invalidate();
      const failures = this.#failures.get(nodeId) ?? 0;
      this.#failures.set(nodeId, failures + 1);
      await sleep(clock, backoffMs(retryBackoff, failures, random), signal);
      await metadata.refresh().catch((failure: unknown) => outageLogger.failed(caller, failure));
    }
  }

  async #findLeader(readers: readonly KafkaReader[]): Promise<void> {
    await this.#options.metadata.refresh();
    const [leaderless] = readers.filter((reader) => this.#leaderOf(reader) === noLeader);
    if (leaderless !== undefined) throw new Error(`${leaderless.topic}/${leaderless.partition} has no leader`);
  }

  async #fetch(nodeId: number, readers: readonly KafkaReader[]): Promise<void> {
    const { brokers, partitionMaxBytes } = this.#options;
    const fetches = this.#partitionFetches(readers);
    if (fetches.size === 0) return;
    const request = fetchRequest({ maxWaitMs, maxBytes, partitionMaxBytes }, [...fetches.values()]);
    const fetched = await brokers.send(nodeId, request, connectionFor.fetches);
    let failed = errorCode.none as number;
    const unverified: KafkaReader[] = [];
    for (const { topicId, partition, errorCode: code, records } of fetched) {
      const { readers = [], fetchOffset } = fetches.get(`${topicId}/${partition}`) ?? {};
      if (code !== errorCode.none && code !== errorCode.offsetOutOfRange) failed = code;
      for (const reader of readers) {
        const unclear =
          code === errorCode.none
            ? !reader.accept(records) && reader.fetchOffset === fetchOffset
            : failed === errorCode.none;
        if (unclear) unverified.push(reader);
      }
    }
    await Promise.all(unverified.map((reader) => this.#checkRange(nodeId, reader)));
    if (failed !== errorCode.none) throw createErrorFromCode(failed);
  }

  #partitionFetches(readers: readonly KafkaReader[]): Map<string, PartitionFetch> {
    const fetches = new Map<string, PartitionFetch>();
    // The broker fills the response in request order, up to its limit. Rotating the order lets every partition be first.
    const first = this.#rotation++ % readers.length;
    for (const reader of [...readers.slice(first), ...readers.slice(0, first)]) {
      const leader = this.#options.metadata.leaderOf(reader.topic, reader.partition);
      if (leader === undefined) continue;
      reader.checkTopicId(leader.topicId);
      if (!reader.hasRoom) continue;
      const key = `${leader.topicId}/${reader.partition}`;
      const { readers = [], fetchOffset = reader.fetchOffset } = fetches.get(key) ?? {};
      fetches.set(key, {
        topicId: leader.topicId,
        partition: reader.partition,
        fetchOffset: Math.min(fetchOffset, reader.fetchOffset),
        readers: [...readers, reader],
      });
    }
    return fetches;
  }

  async #checkRange(nodeId: number, reader: KafkaReader): Promise<void> {
    reader.invalidate();
    reader.checkRange(await listOffsets(this.#options.brokers, nodeId, reader.topic, reader.partition));
  }
}
