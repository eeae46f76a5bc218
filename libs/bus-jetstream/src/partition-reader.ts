import { AckPolicy, DeliverPolicy, type JetStreamManager, ReplayPolicy } from '@nats-io/jetstream';
import { type Msg, nuid } from '@nats-io/nats-core';
import {
  type Delivery,
  isLogTruncatedError,
  LogTruncatedError,
  type PartitionReader,
  type StreamOffset,
} from '@sluice/bus';
import { backoffMs, sleep } from '@sluice/runtime';
import type { NatsLink } from './link.ts';
import type { JetStreamBusPorts } from './options.ts';
import { PullSession } from './pull-session.ts';
import { toDelivery } from './record-message.ts';
import { ofStream, verifyLog, wrongRecord } from './verify-cursor.ts';

export interface ReaderTarget {
  readonly stream: string;
  readonly inboxPrefix: string;
}

/** How much is held ready while nobody asks for it; of bytes, at most one request's more. */
const maxReady = { records: 512, bytes: 1024 * 1024 };

const retry = { baseMs: 50, maxMs: 5000 };

/** The server forgets a consumer that asked for nothing this long. */
const consumerLifeMs = 60_000;
const nanoseconds = 1_000_000;

/**
 * Reads one stream in order. Each time the connection or the consumer is lost it makes a consumer anew and sees whether
 * the stream still goes on from the last record that came: the consumer begins with that one, so that it shows itself
 * without being asked for, and the stream is looked at while the first records are on their way. Until then nothing is
 * given out. The consumer comes first: if the stream is made anew in between, the consumer is gone as well.
 */
export class JetStreamReader implements PartitionReader {
  readonly #link: NatsLink;
  readonly #jsm: JetStreamManager;
  readonly #target: ReaderTarget;
  readonly #ports: JetStreamBusPorts;
  readonly #closing = new AbortController();
  readonly #onClose: () => void;
  /** After the last record that came from the server. */
  #cursor: StreamOffset;
  #ready: Delivery[] = [];
  #readyBytes = 0;
  /** Nobody knows yet whether what comes follows from the cursor. */
  #unverified = false;
  #session: PullSession | undefined;
  #lost: LogTruncatedError | undefined;
  #wake: (() => void) | undefined;

  constructor(
    link: NatsLink,
    jsm: JetStreamManager,
    target: ReaderTarget,
    after: StreamOffset,
    ports: JetStreamBusPorts,
    onClose: () => void,
  ) {
    this.#link = link;
    this.#jsm = jsm;
    this.#target = target;
    this.#cursor = after;
    this.#ports = ports;
    this.#onClose = onClose;
    void this.#run();
  }

  get streamId(): string {
    return this.#cursor.streamId;
  }

  async next(max: number): Promise<readonly Delivery[]> {
    for (;;) {
      if (this.#closed) return [];
      if (!this.#unverified) {
        if (this.#ready.length > 0) return this.#take(max);
        if (this.#lost !== undefined) throw this.#lost;
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** Records go by the stream's own limits: others, such as the console, read the history. */
  release(): void {}

  close(): void {
    if (this.#closed) return;
    this.#closing.abort();
    this.#session?.end('closed');
    this.#ready = [];
    this.#awaken();
    this.#onClose();
  }

  get #closed(): boolean {
    return this.#closing.signal.aborted;
  }

  #take(max: number): readonly Delivery[] {
    const taken = max >= this.#ready.length ? this.#ready : this.#ready.slice(0, max);
    this.#ready = max >= this.#ready.length ? [] : this.#ready.slice(max);
    for (const { payload } of taken) this.#readyBytes -= payload.length;
    this.#session?.pull();
    return taken;
  }

  async #run(): Promise<void> {
    const { clock, random, logger } = this.#ports;
    const { stream } = this.#target;
    for (let failures = 0; !this.#closed && this.#lost === undefined; ) {
      await this.#link.whenUp();
      if (this.#closed) return;
      try {
        const before = this.#cursor;
        const reason = await this.#read();
        if (this.#cursor !== before) failures = 0;
        logger.debug('reading a stream is interrupted', { stream, reason });
      } catch (error) {
        if (isLogTruncatedError(error)) return this.#lose(error);
        if (this.#closed) return;
        if (failures === 1) logger.warn('a stream cannot be read; trying again', { stream, error });
      }
      await sleep(clock, backoffMs(retry, failures++, random), this.#closing.signal);
    }
  }

  /** Reads until something ends it, and says what. Throws LogLostError, or why it could not begin. */
  async #read(): Promise<string> {
    const { stream, inboxPrefix } = this.#target;
    const consumer = nuid.next();
    const session = new PullSession(this.#link, this.#ports.clock, { stream, consumer, inboxPrefix }, this.#events());
    this.#session = session;
    const after = this.#cursor;
    try {
      await ofStream(stream, this.#jsm.consumers.add(stream, consumerConfig(consumer, firstOffset(after))));
      this.#unverified = true;
      session.start();
      const streamId = await verifyLog(this.#jsm, stream, after);
      this.#cursor = { ...this.#cursor, streamId };
      this.#unverified = false;
      this.#awaken();
      return await session.ended;
    } finally {
      if (this.#unverified) this.#goBack(after);
      this.#session = undefined;
      session.end('over');
      if (this.#link.up) this.#link.nc.publish(`$JS.API.CONSUMER.DELETE.${stream}.${consumer}`);
    }
  }

  #events() {
    return {
      room: () => (this.#readyBytes >= maxReady.bytes ? 0 : Math.max(0, maxReady.records - this.#ready.length)),
      delivered: (offset: number, message: Msg) => this.#deliver(offset, message),
      passed: (offset: number) => {
        if (offset > this.#cursor.offset) this.#session?.end('records were passed over');
      },
    };
  }

  #deliver(offset: number, message: Msg): void {
    const { stream } = this.#target;
    const last = this.#cursor;
    const delivery = toDelivery(offset, message.headers, message.data);
    if (offset === last.offset) {
      if (delivery.id !== last.id) this.#lose(wrongRecord(stream, last, delivery.id));
      return;
    }
    if (offset !== last.offset + 1) {
      const gap = `stream ${stream} goes on at ${offset}: what follows offset ${last.offset} is gone`;
      return this.#lose(new LogTruncatedError(gap));
    }
    this.#cursor = { offset, id: delivery.id, streamId: last.streamId };
    this.#ready.push(delivery);
    this.#readyBytes += delivery.payload.length;
    this.#awaken();
  }

  /** Forgets what came after the cursor: nobody knows whether it follows. */
  #goBack(after: StreamOffset): void {
    this.#unverified = false;
    this.#cursor = after;
    this.#ready = this.#ready.filter(({ offset }) => offset <= after.offset);
    this.#readyBytes = this.#ready.reduce((bytes, { payload }) => bytes + payload.length, 0);
    this.#awaken();
  }

  #lose(error: LogTruncatedError): void {
    this.#lost = error;
    this.#session?.end('lost');
    this.#awaken();
  }

  #awaken(): void {
    this.#wake?.();
    this.#wake = undefined;
  }
}

/** Of a consumer that reads after the cursor: that of the record there, if it can be told from another. */
function firstOffset({ offset, id }: StreamOffset): number {
  return offset > 0 && id !== '' ? offset : offset + 1;
}

function consumerConfig(name: string, start: number) {
  return {
    name,
    ack_policy: AckPolicy.None,
    deliver_policy: DeliverPolicy.StartSequence,
    opt_start_seq: start,
    replay_policy: ReplayPolicy.Instant,
    inactive_threshold: consumerLifeMs * nanoseconds,
    mem_storage: true,
    num_replicas: 1,
    max_waiting: 16,
  };
}
