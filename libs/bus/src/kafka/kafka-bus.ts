import { backoffMs, errorMessage, sleep, tlsMaterialProblem } from '@sluice/platform';
import {
  type AppendedOffsets,
  appendAcceptable,
  type Bus,
  BusClosedError,
  type BusLimits,
  type BusRecord,
  largestMessageBytes,
  oversizedPayload,
  type PartitionReader,
  type StreamOffset,
  type Topic,
} from '../index.ts';
import { Appender } from './appender.ts';
import { Brokers, listOffsets, parseAddress } from './brokers.ts';
import { fetchRequest } from './fetch-request.ts';
import { Fetcher } from './fetcher.ts';
import { KafkaReader } from './kafka-reader.ts';
import { createErrorFromCode } from './kafkajs-internals.ts';
import { OutageLogger } from './kafkajs-logger.ts';
import { MetadataCache, type PartitionLeader } from './metadata-cache.ts';
import { BusSetupError, type KafkaBusOptions, partitionsOf, topicName, topics } from './options.ts';
import { errorCode } from './protocol.ts';
import { offsetOf, toDelivery } from './records.ts';
import { ensureTopics } from './topics.ts';

const retryBackoff = { baseMs: 50, maxMs: 1_000 };

/**
 * Connects, creates missing topics and checks existing ones. Waits up to `connectWithinMs` if Kafka is unavailable.
 *
 * @throws BusSetupError see BusSetupCode
 */
export async function connectKafkaBus(options: KafkaBusOptions): Promise<KafkaBus> {
  const bus = new KafkaBus(options);
  try {
    await bus.start();
  } catch (error) {
    await bus.close();
    throw error;
  }
  return bus;
}

/** Part of a batch that is kept for its header and a record's key, id and headers. */
const batchReserve = 4096;

/**
 * The bus on Kafka: one topic each for changes, mutations and requests. `Delivery.offset` is Kafka's offset + 1, and the
 * stream id is the topic id. There are no consumer groups: leases assign partitions, in milliseconds (ADR 0014).
 */
class KafkaBus implements Bus {
  readonly partitions: number;
  readonly #options: KafkaBusOptions;
  readonly #brokers: Brokers;
  readonly #metadata: MetadataCache;
  readonly #outageLogger: OutageLogger;
  readonly #appender: Appender;
  readonly #fetcher: Fetcher;
  readonly #closing = new AbortController();
  /** Size limit of a batch, as the topics report it. */
  #batchBytes: number;

  /** Use `connectKafkaBus`, which calls `start`. */
  constructor(options: KafkaBusOptions) {
    const { clock, random, logger, maxMessageBytes } = options;
    this.#batchBytes = maxMessageBytes;
    this.partitions = options.partitions;
    this.#options = options;
    const names = topics.map((topic) => topicName(options, topic));
    const brokers = new Brokers(options, logger);
    const metadata = new MetadataCache(brokers, names, () => this.#ensureTopics());
    const outageLogger = new OutageLogger(logger);
    this.#brokers = brokers;
    this.#metadata = metadata;
    this.#outageLogger = outageLogger;
    const shared = { brokers, metadata, outageLogger, clock, random };
    this.#appender = new Appender({
      ...shared,
      maxMessageBytes: () => this.#batchBytes,
      onTooLarge: () => this.#ensureTopics().catch((error: unknown) => outageLogger.failed('topic settings', error)),
    });
    this.#fetcher = new Fetcher({ ...shared, partitionMaxBytes: maxMessageBytes, signal: this.#closing.signal });
  }

  async start(): Promise<void> {
    const { brokers, clock, connectWithinMs = 30_000 } = this.#options;
    for (const broker of brokers) parseAddress(broker);
    const material = tlsMaterialProblem(this.#options.tls ?? {});
    if (material !== undefined) throw new BusSetupError('BUS_TLS', `TLS settings for Kafka: ${material}`);
    const deadline = clock.monotonic() + connectWithinMs;
    const attempt = async () => {
      try {
        await this.#ensureTopics();
        await this.#metadata.refresh();
      } catch (error) {
        if (clock.monotonic() < deadline || error instanceof BusSetupError) throw error;
        const reason = errorMessage(error);
        const message = `cannot reach Kafka at ${brokers.join(', ')}: ${reason}. Check bus.servers and the brokers.`;
        throw new BusSetupError('BUS_UNREACHABLE', message, error);
      }
    };
    await this.#retry('start', attempt, deadline);
  }

  get limits(): BusLimits {
    const { changes, mutations } = this.#options.retentionBytes;
    return {
      recordBytes: this.#batchBytes - batchReserve,
      messageBytes: Math.min(largestMessageBytes, Math.floor(Math.min(changes, mutations) / 2)),
    };
  }

  get connected(): boolean {
    return this.#brokers.reachable;
  }

  async append(topic: Topic, partition: number, records: readonly BusRecord[]): Promise<AppendedOffsets> {
    const name = this.#name(topic, partition);
    return await appendAcceptable(records, oversizedPayload(this.limits.recordBytes), (accepted) =>
      this.#appender.append(name, partition, accepted),
    );
  }

  read(topic: Topic, partition: number, after: StreamOffset): PartitionReader {
    const reader = new KafkaReader(this.#name(topic, partition), partition, after, this.#fetcher.update);
    if (this.#closing.signal.aborted) reader.close();
    this.#fetcher.update(reader);
    return reader;
  }

  async beginning(topic: Topic, partition: number): Promise<StreamOffset> {
    const name = this.#name(topic, partition);
    return await this.#retry(`beginning of ${name}/${partition}`, async () => {
      // No request names the topic id, so one from the cache could be that of a topic that was deleted.
      await this.#metadata.refresh();
      const { nodeId, topicId } = this.#leaderOf(name, partition);
      const { logStart } = await listOffsets(this.#brokers, nodeId, name, partition);
      return { offset: logStart, id: '', streamId: topicId };
    });
  }

  async end(topic: Topic, partition: number): Promise<StreamOffset> {
    const name = this.#name(topic, partition);
    return await this.#retry(`end of ${name}/${partition}`, () => this.#end(name, partition));
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#fetcher.close();
    await this.#appender.close();
    this.#brokers.close();
  }

  async #ensureTopics(): Promise<void> {
    this.#batchBytes = await ensureTopics(this.#options, this.#brokers);
  }

  async #end(topic: string, partition: number): Promise<StreamOffset> {
    const { nodeId, topicId } = this.#leaderOf(topic, partition);
    const { logStart, highWatermark } = await listOffsets(this.#brokers, nodeId, topic, partition);
    // An empty log has no last record and so no id.
    if (logStart === highWatermark) return { offset: highWatermark, id: '', streamId: topicId };
    const { maxMessageBytes } = this.#options;
    const request = fetchRequest({ maxWaitMs: 0, maxBytes: maxMessageBytes, partitionMaxBytes: maxMessageBytes }, [
      { topicId, partition, fetchOffset: highWatermark - 1 },
    ]);
    const [fetched] = await this.#brokers.send(nodeId, request);
    if (fetched === undefined) throw new Error(`${topic}/${partition} is missing in the fetch response`);
    if (fetched.errorCode !== errorCode.none) throw createErrorFromCode(fetched.errorCode);
    const last = fetched.records.find((record) => offsetOf(record) === highWatermark);
    if (last === undefined) throw new Error(`${topic}/${partition} returned no record at offset ${highWatermark}`);
    return { offset: highWatermark, id: toDelivery(last).id, streamId: topicId };
  }

  /** Retries until it succeeds, the bus is closed, or the error needs an operator. `caller` is for the log. */
  async #retry<T>(caller: string, attempt: () => Promise<T>, deadline = Number.POSITIVE_INFINITY): Promise<T> {
    const { clock, random } = this.#options;
    const { signal } = this.#closing;
    for (let failures = 0; ; failures++) {
      if (signal.aborted) throw new BusClosedError('the bus is closed');
      try {
        const result = await attempt();
        this.#outageLogger.recovered(caller);
        return result;
      } catch (error) {
        if (error instanceof BusSetupError && !(isTransient(error) && clock.monotonic() < deadline)) throw error;
        if (!signal.aborted) this.#outageLogger.failed(caller, error);
        await sleep(clock, backoffMs(retryBackoff, failures, random), signal);
        if (signal.aborted) continue;
        await this.#metadata.refresh().catch((failure: unknown) => this.#outageLogger.failed(caller, failure));
      }
    }
  }

  #leaderOf(topic: string, partition: number): PartitionLeader {
    const leader = this.#metadata.leaderOf(topic, partition);
    if (leader === undefined) throw new Error(`${topic}/${partition} has no leader`);
    return leader;
  }

  #name(topic: Topic, partition: number): string {
    const partitions = partitionsOf(this.#options, topic);
    if (!Number.isInteger(partition) || partition < 0 || partition >= partitions) {
      throw new RangeError(`partition ${partition} of ${topic} is not within 0..${partitions - 1}`);
    }
    return topicName(this.#options, topic);
  }
}

function isTransient({ code }: BusSetupError): boolean {
  return code === 'BUS_TOO_FEW_BROKERS';
}
