import { backoffMs, type Clock, type Random, sleep } from '@sluice/platform';
import {
  type AppendedOffsets,
  appendAcceptable,
  BusClosedError,
  type BusRecord,
  RecordRejectedError,
} from '../index.ts';
import type { Brokers } from './brokers.ts';
import {
  createErrorFromCode,
  decodeProduceResponse,
  encodeProduceRequest,
  type ProducedBatch,
  type ProduceResponse,
  type ProtocolRequest,
} from './kafkajs-internals.ts';
import type { OutageLogger } from './kafkajs-logger.ts';
import type { MetadataCache } from './metadata-cache.ts';
import { PartitionQueue } from './partition-queue.ts';
import { errorCode } from './protocol.ts';
import { batchCapacity, messageBytes, toMessage } from './records.ts';

const retryBackoff = { baseMs: 50, maxMs: 1_000 };
/** By default, brokers reject requests of more than 100 MiB. */
const maxRequestBytes = 16 * 1024 * 1024;
/** How long `close` waits for requests in flight. */
const closeTimeoutMs = 1_000;
/** Stands for the node id of the leader while a partition has none. */
const noLeader = -1;

interface AppenderOptions {
  readonly brokers: Brokers;
  readonly metadata: MetadataCache;
  readonly outageLogger: OutageLogger;
  readonly clock: Clock;
  readonly random: Random;
  /** Size limit of a batch, in bytes. */
  readonly maxMessageBytes: () => number;
  /** Called when a broker rejects a batch within that limit. Reads the limit again; never rejects. */
  readonly onTooLarge: () => Promise<void>;
}

/**
 * Appends for all callers: one request at a time per broker, with everything that has arrived since the last one. A batch
 * of unknown fate is sent again unchanged before anything else of its partition, so the log may hold it twice, but the
 * first copies are in order.
 */
export class Appender {
  readonly #options: AppenderOptions;
  readonly #queues = new Map<string, PartitionQueue>();
  /** Queues with records to send that are neither in flight nor in backoff. */
  readonly #ready = new Set<PartitionQueue>();
  /** Requests in flight by node id. */
  readonly #inFlight = new Map<number, Promise<void>>();
  readonly #closing = new AbortController();

  constructor(options: AppenderOptions) {
    this.#options = options;
  }

  /** Resolves to the offsets of the records as readers get them. If a record is stored twice, it is that of the last copy. */
  append(topic: string, partition: number, records: readonly BusRecord[]): Promise<AppendedOffsets> {
    const capacity = batchCapacity(this.#options.maxMessageBytes());
    const problemOf = (record: BusRecord) => {
      const bytes = messageBytes(toMessage(record));
      return bytes <= capacity ? undefined : `${bytes} bytes with headers exceed the limit of ${capacity}`;
    };
    return appendAcceptable(records, problemOf, (accepted) => this.#enqueue(topic, partition, accepted));
  }

  #enqueue(topic: string, partition: number, records: readonly BusRecord[]): Promise<readonly number[]> {
    if (this.#closing.signal.aborted) return Promise.reject(closedError());
    if (records.length === 0) return Promise.resolve([]);
    const messages = records.map(toMessage);
    const name = `${topic}/${partition}`;
    let queue = this.#queues.get(name);
    if (queue === undefined) {
      queue = new PartitionQueue(topic, partition, () => batchCapacity(this.#options.maxMessageBytes()));
      this.#queues.set(name, queue);
    }
    const { promise, resolve, reject } = Promise.withResolvers<readonly number[]>();
    if (queue.idle) this.#ready.add(queue);
    queue.add({ messages, batches: 0, offsets: [], resolve, reject });
    this.#run();
    return promise;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.race([Promise.all(this.#inFlight.values()), sleep(this.#options.clock, closeTimeoutMs)]);
    for (const queue of this.#queues.values()) queue.close(closedError());
  }

  #run(): void {
    if (this.#closing.signal.aborted) return;
    for (const [nodeId, queues] of Map.groupBy(this.#ready, (queue) => this.#leaderOf(queue))) {
      if (this.#inFlight.has(nodeId)) continue;
      const sending = nodeId === noLeader ? queues : upToBytes(maxRequestBytes, queues);
      for (const queue of sending) this.#ready.delete(queue);
      const done = this.#send(nodeId, sending).finally(() => {
        this.#inFlight.delete(nodeId);
        this.#run();
      });
      this.#inFlight.set(nodeId, done);
    }
  }

  #leaderOf({ topic, partition }: PartitionQueue): number {
    return this.#options.metadata.leaderOf(topic, partition)?.nodeId ?? noLeader;
  }

  /** Never rejects: every queue continues, or retries after a backoff. */
  async #send(nodeId: number, queues: readonly PartitionQueue[]): Promise<void> {
    try {
      if (nodeId === noLeader) throw new Error(`${queues[0]?.name} has no leader`);
      const batches = await this.#options.brokers.send(nodeId, produceRequest(queues));
      for (const queue of queues) this.#onResponse(queue, batches.get(queue.name));
    } catch (error) {
      for (const queue of queues) this.#retry(queue, error);
    }
  }

  #onResponse(queue: PartitionQueue, batch: ProducedBatch | undefined): void {
    const code = batch?.errorCode;
    switch (code) {
      case errorCode.none:
        if (queue.failures > 0) this.#options.outageLogger.recovered(queue.name);
        queue.acknowledge(Number(batch?.baseOffset) + 1);
        break;
      case errorCode.messageTooLarge:
      case errorCode.recordListTooLarge:
        void this.#options.onTooLarge().then(() => this.#onRejected(queue, code));
        return;
      case errorCode.invalidRecord:
      case errorCode.invalidTimestamp:
        this.#onRejected(queue, code);
        return;
      case errorCode.topicAuthorizationFailed:
      case errorCode.clusterAuthorizationFailed:
        queue.reject(
          () => new Error(`${queue.name}: not authorized to write to this topic; grant the ACL operation Write`),
        );
        break;
      default:
        this.#retry(
          queue,
          code === undefined ? new Error(`${queue.name} is missing in the response`) : createErrorFromCode(code),
        );
        return;
    }
    if (!queue.idle) this.#ready.add(queue);
  }

  /** The broker says only that it rejects the batch, so the batch is split until the record is alone. */
  #onRejected(queue: PartitionQueue, code: number): void {
    const { message } = createErrorFromCode(code);
    if (!queue.split()) queue.reject((offsets) => new RecordRejectedError(`${queue.name}: ${message}`, offsets));
    if (!queue.idle) this.#ready.add(queue);
    this.#run();
  }

  #retry(queue: PartitionQueue, error: unknown): void {
    const { clock, random, metadata, outageLogger } = this.#options;
    const { signal } = this.#closing;
    if (signal.aborted) return;
    outageLogger.failed(queue.name, error);
    void sleep(clock, backoffMs(retryBackoff, queue.failures++, random), signal)
      .then(() => metadata.refresh())
      .catch((failure: unknown) => outageLogger.failed(queue.name, failure))
      .then(() => {
        this.#ready.add(queue);
        this.#run();
      });
  }
}

/** The first queues whose batches fit, at least one. */
function upToBytes(bytes: number, queues: readonly PartitionQueue[]): PartitionQueue[] {
  const taken: PartitionQueue[] = [];
  let left = bytes;
  for (const queue of queues) {
    for (const message of queue.batch()?.messages ?? []) left -= messageBytes(message);
    if (taken.length > 0 && left < 0) break;
    taken.push(queue);
  }
  return taken;
}

function closedError(): BusClosedError {
  return new BusClosedError('the bus is closed');
}

/** All in-sync replicas must have the batch. */
const acks = -1;
/** How long the leader waits for them, in milliseconds. */
const timeout = 5_000;

/**
 * The response is the error code and the offset of each batch, by `topic/partition`. The parser that kafkajs has turns the error
 * of one partition into a failure of all.
 */
function produceRequest(queues: readonly PartitionQueue[]): ProtocolRequest<ReadonlyMap<string, ProducedBatch>> {
  const topicData = [...Map.groupBy(queues, ({ topic }) => topic)].map(([topic, ofTopic]) => ({
    topic,
    partitions: ofTopic.map((queue) => ({ partition: queue.partition, messages: queue.batch()?.messages ?? [] })),
  }));
  return {
    request: encodeProduceRequest({ acks, timeout, topicData }),
    response: {
      decode: async (payload) => producedBatches(await decodeProduceResponse(payload)),
      parse: async (batches) => batches,
    },
  };
}

function producedBatches({ topics }: ProduceResponse): ReadonlyMap<string, ProducedBatch> {
  return new Map(
    topics.flatMap(({ topicName, partitions }) =>
      partitions.map((batch) => [`${topicName}/${batch.partition}`, batch] as const),
    ),
  );
}
