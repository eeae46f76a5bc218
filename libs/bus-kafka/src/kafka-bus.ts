import {
  type Bus,
  BusClosedError,
  type BusRecord,
  type PartitionReader,
  type StreamOffset,
  type Topic,
} from '@sluice/bus';
import { backoffMs, sleep, tlsMaterialProblem } from '@sluice/runtime';
import { createErrorFromCode } from 'kafkajs/src/protocol/error.js';
import { Appender } from './appender.ts';
import { Brokers, parseAddress } from './brokers.ts';
import { BusSetupError } from './errors.ts';
import { fetchRequest } from './fetch-request.ts';
import { Fetcher } from './fetcher.ts';
import { KafkaReader } from './kafka-reader.ts';
import { listOffsets } from './list-offsets.ts';
import { type KafkaBusOptions, partitionsOf, topicName, topics } from './options.ts';
import { Outage } from './outage.ts';
import { errorCode } from './protocol.ts';
import { offsetAfter, toDelivery } from './records.ts';
import { Routes } from './routes.ts';
import { ensureTopics } from './topics.ts';

const retryBackoff = { baseMs: 50, maxMs: 1_000 };

/**
 * Connects, makes the topics that are missing and checks the others. Waits a while for a Kafka that is away.
 *
 * @throws BusSetupError see its codes
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

/**
 * The bus on Kafka: a topic each for changes, mutations and requests, offsets that are offsets + 1, and the topic's id
 * as incarnation of the log. No consumer groups: who reads what is settled by our leases, in milliseconds.
 */
export class KafkaBus implements Bus {
  readonly partitions: number;
  readonly #options: KafkaBusOptions;
  readonly #brokers: Brokers;
  readonly #routes: Routes;
  readonly #outage: Outage;
  readonly #appender: Appender;
  readonly #fetcher: Fetcher;
  readonly #closing = new AbortController();

  /** See `connectKafkaBus`. */
  constructor(options: KafkaBusOptions) {
    const { clock, random, logger, maxMessageBytes } = options;
    this.partitions = options.partitions;
    this.#options = options;
    const names = topics.map((topic) => topicName(options, topic));
    const brokers = new Brokers(options, logger);
    const routes = new Routes(brokers, names, () => ensureTopics(options, brokers));
    const outage = new Outage(logger);
    this.#brokers = brokers;
    this.#routes = routes;
    this.#outage = outage;
    this.#appender = new Appender({ brokers, routes, outage, clock, random, maxMessageBytes });
    const { signal } = this.#closing;
    this.#fetcher = new Fetcher({ brokers, routes, outage, clock, random, partitionMaxBytes: maxMessageBytes, signal });
  }

  async start(): Promise<void> {
    const { brokers, clock, connectWithinMs = 30_000 } = this.#options;
    for (const broker of brokers) parseAddress(broker);
    const material = tlsMaterialProblem(this.#options.tls ?? {});
    if (material !== undefined) throw new BusSetupError('BUS_TLS', `TLS for Kafka: ${material}`);
    const deadline = clock.monotonic() + connectWithinMs;
    const attempt = async () => {
      try {
        await ensureTopics(this.#options, this.#brokers);
        await this.#routes.refresh();
      } catch (error) {
        if (clock.monotonic() < deadline || error instanceof BusSetupError) throw error;
        const why = error instanceof Error ? error.message : String(error);
        throw new BusSetupError('BUS_UNREACHABLE', `Kafka at ${brokers.join(', ')} cannot be reached: ${why}`, error);
      }
    };
    await this.#persist('the start', attempt, deadline);
  }

  async append(topic: Topic, partition: number, records: readonly BusRecord[]): Promise<void> {
    await this.#appender.append(this.#name(topic, partition), partition, records);
  }

  read(topic: Topic, partition: number, after: StreamOffset): PartitionReader {
    const reader = new KafkaReader(this.#name(topic, partition), partition, after, this.#fetcher.update);
    if (this.#closing.signal.aborted) reader.close();
    this.#fetcher.update(reader);
    return reader;
  }

  async beginning(topic: Topic, partition: number): Promise<StreamOffset> {
    const name = this.#name(topic, partition);
    return await this.#persist(`beginning of ${name}/${partition}`, async () => {
      const { leader, topicId } = this.#route(name, partition);
      const { earliest } = await listOffsets(this.#brokers, leader, name, partition);
      return { offset: earliest, id: '', streamId: topicId };
    });
  }

  async end(topic: Topic, partition: number): Promise<StreamOffset> {
    const name = this.#name(topic, partition);
    return await this.#persist(`end of ${name}/${partition}`, () => this.#end(name, partition));
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#fetcher.close();
    await this.#appender.close();
    this.#brokers.close();
  }

  async #end(topic: string, partition: number): Promise<StreamOffset> {
    const { leader, topicId } = this.#route(topic, partition);
    const { earliest, latest } = await listOffsets(this.#brokers, leader, topic, partition);
    // Nobody wrote, or everything is gone: there is no last record to know.
    if (earliest === latest) return { offset: latest, id: '', streamId: topicId };
    const { maxMessageBytes } = this.#options;
    const request = fetchRequest({ maxWaitMs: 0, maxBytes: maxMessageBytes, partitionMaxBytes: maxMessageBytes }, [
      { topicId, partition, offset: latest - 1 },
    ]);
    const [fetched] = await this.#brokers.send(leader, request);
    if (fetched === undefined) throw new Error(`${topic}/${partition} was not in the answer`);
    if (fetched.errorCode !== errorCode.none) throw createErrorFromCode(fetched.errorCode);
    const last = fetched.records.find((record) => offsetAfter(record) === latest);
    if (last === undefined) throw new Error(`${topic}/${partition} has no record at its end, offset ${latest}`);
    return { offset: latest, id: toDelivery(last).id, streamId: topicId };
  }

  /** Tries until it succeeds, the bus is closed, or only a person can help. */
  async #persist<T>(what: string, attempt: () => Promise<T>, deadline = Number.POSITIVE_INFINITY): Promise<T> {
    const { clock, random } = this.#options;
    const { signal } = this.#closing;
    for (let failures = 0; ; failures++) {
      if (signal.aborted) throw new BusClosedError('the bus is closed');
      try {
        const result = await attempt();
        this.#outage.recovered(what);
        return result;
      } catch (error) {
        if (error instanceof BusSetupError && !(mayPass(error) && clock.monotonic() < deadline)) throw error;
        if (!signal.aborted) this.#outage.failed(what, error);
        await sleep(clock, backoffMs(retryBackoff, failures, random), signal);
        if (signal.aborted) continue;
        await this.#routes.refresh().catch((failure: unknown) => this.#outage.failed(what, failure));
      }
    }
  }

  #route(topic: string, partition: number) {
    const route = this.#routes.of(topic, partition);
    if (route === undefined) throw new Error(`${topic}/${partition} has no leader`);
    return route;
  }

  #name(topic: Topic, partition: number): string {
    const partitions = partitionsOf(this.#options, topic);
    if (!Number.isInteger(partition) || partition < 0 || partition >= partitions) {
      throw new RangeError(`partition ${partition} of ${topic}: there are ${partitions}`);
    }
    return topicName(this.#options, topic);
  }
}

function mayPass({ code }: BusSetupError): boolean {
  return code === 'BUS_TOO_FEW_BROKERS';
}
