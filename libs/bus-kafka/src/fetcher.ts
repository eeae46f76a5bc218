import { backoffMs, type Clock, type Random, sleep } from '@sluice/runtime';
import { createErrorFromCode } from 'kafkajs/src/protocol/error.js';
import { type Brokers, connection } from './brokers.ts';
import { type FetchPartition, fetchRequest } from './fetch-request.ts';
import type { KafkaReader } from './kafka-reader.ts';
import { listOffsets } from './list-offsets.ts';
import type { Outage } from './outage.ts';
import { errorCode } from './protocol.ts';
import type { Routes } from './routes.ts';

/** A reader that is opened while a fetch waits comes into the next one, this long after it at most. */
const maxWaitMs = 50;
/** A fetch names all partitions, which costs both sides: a record each is not worth one each. */
const minIntervalMs = 4;
const maxBytes = 16 * 1024 * 1024;
const retryBackoff = { baseMs: 50, maxMs: 1_000 };
/** Stands for the broker of partitions that nobody serves now. */
const nobody = -1;

export interface FetcherOptions {
  readonly brokers: Brokers;
  readonly routes: Routes;
  readonly outage: Outage;
  readonly clock: Clock;
  readonly random: Random;
  /** The largest batch there may be. */
  readonly partitionMaxBytes: number;
  readonly signal: AbortSignal;
}

/** The readers of one partition, and the lowest offset that one of them asks for. */
interface PartitionFetch extends FetchPartition {
  readonly readers: readonly KafkaReader[];
}

/** Fetches for all readers: one request at a time and broker, for all partitions that it serves. */
export class Fetcher {
  readonly #options: FetcherOptions;
  readonly #readers = new Set<KafkaReader>();
  /** Brokers that a request is with, or that are left alone for a while after a failure. */
  readonly #busy = new Set<number>();
  readonly #failures = new Map<number, number>();
  #turn = 0;

  constructor(options: FetcherOptions) {
    this.#options = options;
  }

  /** To be called when a reader is new, is closed, or takes records again. */
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
    const wanting = [...this.#readers].filter(({ wants }) => wants);
    for (const [broker, readers] of Map.groupBy(wanting, (reader) => this.#leader(reader))) {
      if (this.#busy.has(broker)) continue;
      this.#busy.add(broker);
      void this.#serve(broker, readers).finally(() => {
        this.#busy.delete(broker);
        this.#run();
      });
    }
  }

  #leader({ topic, partition }: KafkaReader): number {
    return this.#options.routes.of(topic, partition)?.leader ?? nobody;
  }

  /** Never rejects: a failure makes it wait for a while, and doubt what it knew. */
  async #serve(broker: number, readers: readonly KafkaReader[]): Promise<void> {
    const { clock, random, routes, outage, signal } = this.#options;
    const name = `fetch from broker ${broker}`;
    const startedAt = clock.monotonic();
    try {
      if (broker === nobody) await this.#findLeader(readers);
      else await this.#fetch(broker, readers);
      this.#failures.delete(broker);
      outage.recovered(name);
      const early = startedAt + minIntervalMs - clock.monotonic();
      if (early > 0) await sleep(clock, early, signal);
    } catch (error) {
      if (signal.aborted) return;
      outage.failed(name, error);
      for (const reader of readers) reader.doubt();
      const failures = this.#failures.get(broker) ?? 0;
      this.#failures.set(broker, failures + 1);
      await sleep(clock, backoffMs(retryBackoff, failures, random), signal);
      await routes.refresh().catch((failure: unknown) => outage.failed(name, failure));
    }
  }

  async #findLeader(readers: readonly KafkaReader[]): Promise<void> {
    await this.#options.routes.refresh();
    const [lost] = readers.filter((reader) => this.#leader(reader) === nobody);
    if (lost !== undefined) throw new Error(`${lost.topic}/${lost.partition} has no leader`);
  }

  async #fetch(broker: number, readers: readonly KafkaReader[]): Promise<void> {
    const { brokers, partitionMaxBytes } = this.#options;
    const fetches = this.#fetches(readers);
    if (fetches.size === 0) return;
    const request = fetchRequest({ maxWaitMs, maxBytes, partitionMaxBytes }, [...fetches.values()]);
    const fetched = await brokers.send(broker, request, connection.waiting);
    let failed = errorCode.none as number;
    const unsettled: KafkaReader[] = [];
    for (const { topicId, partition, errorCode: code, records } of fetched) {
      const { readers = [], offset } = fetches.get(`${topicId}/${partition}`) ?? {};
      if (code !== errorCode.none && code !== errorCode.offsetOutOfRange) failed = code;
      for (const reader of readers) {
        if (code === errorCode.none ? !reader.accept(records) && reader.offset === offset : failed === errorCode.none) {
          unsettled.push(reader);
        }
      }
    }
    await Promise.all(unsettled.map((reader) => this.#settle(broker, reader)));
    if (failed !== errorCode.none) throw createErrorFromCode(failed);
  }

  #fetches(readers: readonly KafkaReader[]): Map<string, PartitionFetch> {
    const fetches = new Map<string, PartitionFetch>();
    // The broker fills the response in this order, up to its limit: each is first in its turn.
    const first = this.#turn++ % readers.length;
    for (const reader of [...readers.slice(first), ...readers.slice(0, first)]) {
      const route = this.#options.routes.of(reader.topic, reader.partition);
      if (route === undefined) continue;
      reader.bind(route.topicId);
      if (!reader.wants) continue;
      const key = `${route.topicId}/${reader.partition}`;
      const { readers = [], offset = reader.offset } = fetches.get(key) ?? {};
      fetches.set(key, {
        topicId: route.topicId,
        partition: reader.partition,
        offset: Math.min(offset, reader.offset),
        readers: [...readers, reader],
      });
    }
    return fetches;
  }

  async #settle(broker: number, reader: KafkaReader): Promise<void> {
    reader.doubt();
    const { earliest, latest } = await listOffsets(this.#options.brokers, broker, reader.topic, reader.partition);
    reader.settle(earliest, latest);
  }
}
