import { BusClosedError, type BusRecord, RecordTooLargeError } from '@sluice/bus';
import { backoffMs, type Clock, type Random, sleep } from '@sluice/runtime';
import { createErrorFromCode } from 'kafkajs/src/protocol/error.js';
import type { Brokers } from './brokers.ts';
import { Lane } from './lane.ts';
import type { Outage } from './outage.ts';
import { produceRequest } from './produce-request.ts';
import { errorCode } from './protocol.ts';
import { batchCapacity, messageBytes, toMessage } from './records.ts';
import type { Routes } from './routes.ts';

const retryBackoff = { baseMs: 50, maxMs: 1_000 };
/** Brokers refuse requests of more than 100 MiB by default. */
const maxRequestBytes = 16 * 1024 * 1024;
/** How long `close` waits for what is with a broker. */
const closeWaitMs = 1_000;
/** Stands for the broker of partitions that nobody serves now. */
const nobody = -1;

export interface AppenderOptions {
  readonly brokers: Brokers;
  readonly routes: Routes;
  readonly outage: Outage;
  readonly clock: Clock;
  readonly random: Random;
  readonly maxMessageBytes: number;
}

/**
 * Appends for all callers: one request at a time and broker; what comes meanwhile goes together into the next. A batch
 * that may or may not have arrived is sent again as it is, before anything else of its partition: it may be in the log
 * twice, but the first ones come in order.
 */
export class Appender {
  readonly #options: AppenderOptions;
  readonly #lanes = new Map<string, Lane>();
  /** Lanes with something to send, that are not sent or left alone after a failure. */
  readonly #ready = new Set<Lane>();
  readonly #busy = new Map<number, Promise<void>>();
  readonly #closing = new AbortController();

  constructor(options: AppenderOptions) {
    this.#options = options;
  }

  append(topic: string, partition: number, records: readonly BusRecord[]): Promise<void> {
    if (this.#closing.signal.aborted) return Promise.reject(closed());
    if (records.length === 0) return Promise.resolve();
    const capacity = batchCapacity(this.#options.maxMessageBytes);
    const messages = records.map(toMessage);
    for (const message of messages) {
      if (messageBytes(message) <= capacity) continue;
      const size = `${message.value.length} bytes and its headers`;
      const error = new RecordTooLargeError(`${topic}/${partition}: a record of ${size}; a batch holds ${capacity}`);
      return Promise.reject(error);
    }
    const name = `${topic}/${partition}`;
    let lane = this.#lanes.get(name);
    if (lane === undefined) {
      lane = new Lane(topic, partition, capacity);
      this.#lanes.set(name, lane);
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    if (lane.idle) this.#ready.add(lane);
    lane.add({ messages, batches: 0, resolve, reject });
    this.#run();
    return promise;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.race([Promise.all(this.#busy.values()), sleep(this.#options.clock, closeWaitMs)]);
    for (const lane of this.#lanes.values()) lane.close(closed());
  }

  #run(): void {
    if (this.#closing.signal.aborted) return;
    for (const [broker, lanes] of Map.groupBy(this.#ready, (lane) => this.#leader(lane))) {
      if (this.#busy.has(broker)) continue;
      const sending = broker === nobody ? lanes : upTo(maxRequestBytes, lanes);
      for (const lane of sending) this.#ready.delete(lane);
      const done = this.#serve(broker, sending).finally(() => {
        this.#busy.delete(broker);
        this.#run();
      });
      this.#busy.set(broker, done);
    }
  }

  #leader({ topic, partition }: Lane): number {
    return this.#options.routes.of(topic, partition)?.leader ?? nobody;
  }

  /** Never rejects: each lane goes on, or tries again after a while. */
  async #serve(broker: number, lanes: readonly Lane[]): Promise<void> {
    try {
      if (broker === nobody) throw new Error(`${lanes[0]?.name} has no leader`);
      const codes = await this.#options.brokers.send(broker, produceRequest(lanes));
      for (const lane of lanes) this.#answered(lane, codes.get(lane.name));
    } catch (error) {
      for (const lane of lanes) this.#tryAgain(lane, error);
    }
  }

  #answered(lane: Lane, code: number | undefined): void {
    switch (code) {
      case errorCode.none:
        if (lane.failures > 0) this.#options.outage.recovered(lane.name);
        lane.acknowledged();
        break;
      case errorCode.messageTooLarge:
      case errorCode.recordListTooLarge:
        lane.refused(new RecordTooLargeError(`${lane.name}: the broker's max.message.bytes is less than configured`));
        break;
      case errorCode.topicAuthorizationFailed:
      case errorCode.clusterAuthorizationFailed:
        lane.refused(new Error(`${lane.name}: Kafka does not let us write to this topic (ACL Write)`));
        break;
      default:
        this.#tryAgain(lane, code === undefined ? new Error('the broker left it out') : createErrorFromCode(code));
        return;
    }
    if (!lane.idle) this.#ready.add(lane);
  }

  #tryAgain(lane: Lane, error: unknown): void {
    const { clock, random, routes, outage } = this.#options;
    const { signal } = this.#closing;
    if (signal.aborted) return;
    outage.failed(lane.name, error);
    void sleep(clock, backoffMs(retryBackoff, lane.failures++, random), signal)
      .then(() => routes.refresh())
      .catch((failure: unknown) => outage.failed(lane.name, failure))
      .then(() => {
        this.#ready.add(lane);
        this.#run();
      });
  }
}

/** The first lanes whose batches fit, one at least. */
function upTo(bytes: number, lanes: readonly Lane[]): Lane[] {
  const taken: Lane[] = [];
  let left = bytes;
  for (const lane of lanes) {
    for (const message of lane.batch()?.messages ?? []) left -= messageBytes(message);
    if (taken.length > 0 && left < 0) break;
    taken.push(lane);
  }
  return taken;
}

function closed(): BusClosedError {
  return new BusClosedError('the bus is closed');
}
