import { AckPolicy, DeliverPolicy, type JetStreamManager, ReplayPolicy } from '@nats-io/jetstream';
import { type Msg, nuid } from '@nats-io/nats-core';
import { backoffMs, sleep } from '@sluice/platform';
import { DeliveryBuffer } from '../delivery-buffer.ts';
import {
  type Delivery,
  isLogTruncatedError,
  LogTruncatedError,
  type PartitionReader,
  type StreamOffset,
} from '../index.ts';
import type { NatsLink } from './link.ts';
import type { JetStreamBusPorts } from './options.ts';
import { PullSession, type SilenceWatch } from './pull-session.ts';
import { toDelivery } from './record-message.ts';
import { recordMismatch, streamResult, verifyOffset } from './verify-offset.ts';

interface ReaderTarget {
  readonly stream: string;
  /** The stream's only subject. */
  readonly subject: string;
  readonly inboxPrefix: string;
}

interface ReaderPorts extends JetStreamBusPorts {
  /** Shared by all readers; its period is that of the heartbeats of their consumers. */
  readonly silence: SilenceWatch;
}

/** Records buffered for `next`. The bytes may exceed this by one pull request. */
const maxBuffered = { records: 512, bytes: 1024 * 1024 };

const retry = { baseMs: 50, maxMs: 5000 };

/** The server deletes a consumer that pulls nothing for this long. */
const consumerInactiveMs = 60_000;
const nanoseconds = 1_000_000;

/**
 * Reads one stream in order. Whenever the connection or the consumer is lost, it creates a new consumer and verifies that
 * the stream continues after the last record: the consumer starts with that record, so its id can be compared, and the
 * stream info is requested while the first records arrive. `next` returns none of them before both are verified. The
 * consumer is created first, so a stream that is deleted and created again in between takes the consumer with it.
 */
export class JetStreamReader implements PartitionReader {
  readonly #link: NatsLink;
  readonly #jsm: JetStreamManager;
  readonly #target: ReaderTarget;
  readonly #ports: ReaderPorts;
  readonly #closing = new AbortController();
  readonly #onClose: () => void;
  /** Just after the last record received. */
  #offset: StreamOffset;
  /** Held while it is unknown whether the records received continue after the offset. */
  readonly #buffer = new DeliveryBuffer(() => this.#session?.pull());
  #session: PullSession | undefined;
  #truncated: LogTruncatedError | undefined;

  constructor(
    link: NatsLink,
    jsm: JetStreamManager,
    target: ReaderTarget,
    after: StreamOffset,
    ports: ReaderPorts,
    onClose: () => void,
  ) {
    this.#link = link;
    this.#jsm = jsm;
    this.#target = target;
    this.#offset = after;
    this.#ports = ports;
    this.#onClose = onClose;
    void this.#run();
  }

  get streamId(): string {
    return this.#offset.streamId;
  }

  next(max: number): Promise<readonly Delivery[]> {
    return this.#buffer.next(max);
  }

  /** Does nothing: the stream's limits delete records, because others, such as the console, read the history. */
  release(): void {}

  close(): void {
    if (this.#closed) return;
    this.#closing.abort();
    this.#session?.end('the reader is closed');
    this.#buffer.close();
    this.#onClose();
  }

  get #closed(): boolean {
    return this.#closing.signal.aborted;
  }

  async #run(): Promise<void> {
    const { clock, random, logger } = this.#ports;
    const { stream } = this.#target;
    for (let failures = 0; !this.#closed && this.#truncated === undefined; ) {
      await this.#link.whenUp();
      if (this.#closed) return;
      try {
        const before = this.#offset;
        const reason = await this.#read();
        if (this.#offset !== before) failures = 0;
        logger.debug('stream read interrupted; retrying', { stream, reason });
      } catch (error) {
        if (isLogTruncatedError(error)) return this.#truncate(error);
        if (this.#closed) return;
        if (failures === 1) logger.warn('cannot read stream; retrying', { stream, error });
      }
      await sleep(clock, backoffMs(retry, failures++, random), this.#closing.signal);
    }
  }

  /**
   * Reads until the session ends and returns the reason.
   *
   * @throws LogTruncatedError, or the error that prevented the session from starting
   */
  async #read(): Promise<string> {
    const { stream, inboxPrefix } = this.#target;
    const { clock, silence } = this.#ports;
    const consumer = nuid.next();
    const session = new PullSession(this.#link, clock, silence, { stream, consumer, inboxPrefix }, this.#events());
    this.#session = session;
    const after = this.#offset;
    try {
      await streamResult(stream, this.#jsm.consumers.add(stream, consumerConfig(consumer, startSequence(after))));
      this.#buffer.hold();
      session.start();
      const streamId = await verifyOffset(this.#jsm, stream, after);
      this.#offset = { ...this.#offset, streamId };
      this.#buffer.unhold();
      return await session.ended;
    } finally {
      if (this.#buffer.isHeld) this.#discardAfter(after);
      this.#session = undefined;
      session.end('the session is over');
      if (this.#link.up) this.#link.nc.publish(`$JS.API.CONSUMER.DELETE.${stream}.${consumer}`);
    }
  }

  #events() {
    return {
      room: () =>
        this.#buffer.bytes >= maxBuffered.bytes ? 0 : Math.max(0, maxBuffered.records - this.#buffer.length),
      delivered: (offset: number, message: Msg) => this.#deliver(offset, message),
      skippedTo: (offset: number) => {
        if (offset > this.#offset.offset) this.#session?.end('the consumer skipped records');
      },
    };
  }

  #deliver(offset: number, message: Msg): void {
    const { stream, subject } = this.#target;
    const last = this.#offset;
    const isForeign = message.subject !== subject;
    const delivery = toDelivery(offset, isForeign ? undefined : message.headers, message.data);
    if (offset === last.offset) {
      if (delivery.id !== last.id) this.#truncate(recordMismatch(stream, last, delivery.id));
      return;
    }
    if (offset !== last.offset + 1) {
      const gap = `stream ${stream} does not continue after offset ${last.offset}: the next record has offset ${offset}`;
      return this.#truncate(new LogTruncatedError(gap));
    }
    this.#offset = { offset, id: delivery.id, streamId: last.streamId };
    if (isForeign) {
      // A consumer or request with this stream's subject as its reply stores records here without the right to publish.
      const { logger } = this.#ports;
      logger.warn('skipping record published to another subject', { stream, offset, subject: message.subject });
      return;
    }
    this.#buffer.push(delivery);
  }

  /** Discards the unverified records received after the given offset. */
  #discardAfter(after: StreamOffset): void {
    this.#offset = after;
    this.#buffer.discardAfter(after.offset);
    this.#buffer.unhold();
  }

  #truncate(error: LogTruncatedError): void {
    this.#truncated = error;
    this.#session?.end('the log is truncated');
    this.#buffer.fail(error);
  }
}

/** Where a consumer starts that reads after the offset: at the record itself if its id is known and can be compared. */
function startSequence({ offset, id }: StreamOffset): number {
  return offset > 0 && id !== '' ? offset : offset + 1;
}

function consumerConfig(name: string, start: number) {
  return {
    name,
    ack_policy: AckPolicy.None,
    deliver_policy: DeliverPolicy.StartSequence,
    opt_start_seq: start,
    replay_policy: ReplayPolicy.Instant,
    inactive_threshold: consumerInactiveMs * nanoseconds,
    mem_storage: true,
    num_replicas: 1,
    max_waiting: 16,
  };
}
