import { createInbox, type Msg, type MsgHdrs, type Subscription } from '@nats-io/nats-core';
import type { Cancel, Clock } from '@sluice/platform';
import type { NatsLink } from './link.ts';

interface PullTarget {
  readonly stream: string;
  readonly consumer: string;
  readonly inboxPrefix: string;
}

interface PullEvents {
  /** Number of records that the reader can buffer now. */
  room(): number;
  /** One record, in the consumer's order. */
  delivered(offset: number, message: Msg): void;
  /** The consumer has reached this offset without delivering more records. */
  skippedTo(offset: number): void;
}

/** Expiry of a pull request. While it is idle, the server sends heartbeats. */
const requestMs = 30_000;
const nanoseconds = 1_000_000;

/**
 * Bytes of a pull request. A server disconnects a client that does not read 64 MiB in time, and a worker has a request for each
 * of 128 readers.
 */
const pullBytes = 128 * 1024;

/** Allowance for the subject and the server's headers on top of the largest message. */
const messageOverhead = 64 * 1024;

const [heartbeat, conflict, noResponders] = [100, 409, 503];

/** What a pull request still waits for. */
interface OpenRequest {
  records: number;
  bytes: number;
  /** Records that it has got. */
  received: number;
}

/**
 * Pulls records from a consumer without acknowledgements. A pull request is always open while the reader has room, so
 * records arrive at once. It is limited in records and bytes, so a slow reader is not flooded. A record that exceeds a request is
 * requested alone, with room for the largest.
 *
 * A server ends a request whose records or bytes are used up without a status, and a record does not name its request. So only
 * one is open at a time: a request that is only thought to be open delays records until heartbeats are missed.
 */
export class PullSession {
  readonly #link: NatsLink;
  readonly #clock: Clock;
  readonly #target: PullTarget;
  readonly #events: PullEvents;
  readonly #inbox: string;
  readonly #subscription: Subscription;
  readonly #ended = Promise.withResolvers<string>();
  readonly #stopWatchingLink: () => void;
  readonly #silence: SilenceWatch;
  #stopWatchingSilence: Cancel = () => {};
  #open: OpenRequest | undefined;
  /** Whether the next record exceeds an ordinary request. */
  #isLarge = false;
  /** Last value of the consumer's delivery counter. */
  #deliveries = 0;
  #lastMessageAt = 0;
  #isEnded = false;

  /** @param silence its period is that of the heartbeats */
  constructor(link: NatsLink, clock: Clock, silence: SilenceWatch, target: PullTarget, events: PullEvents) {
    this.#link = link;
    this.#clock = clock;
    this.#silence = silence;
    this.#target = target;
    this.#events = events;
    this.#inbox = createInbox(target.inboxPrefix);
    this.#subscription = link.nc.subscribe(this.#inbox, {
      callback: (error, message) => (error === null ? this.#receive(message) : this.end(error.message)),
    });
    this.#stopWatchingLink = link.onDown(() => this.end('the connection was lost'));
  }

  /** Resolves with the reason when the session ends. */
  get ended(): Promise<string> {
    return this.#ended.promise;
  }

  start(): void {
    if (this.#isEnded) return;
    this.#lastMessageAt = this.#clock.monotonic();
    this.#stopWatchingSilence = this.#silence.add(() => this.#checkSilence());
    this.pull();
  }

  /** Requests more records if the reader has room and no request is open. */
  pull(): void {
    const room = this.#events.room();
    if (this.#isEnded || this.#open !== undefined || room < 1) return;
    // The server sends nothing while no request is open, so silence counts from here.
    this.#lastMessageAt = this.#clock.monotonic();
    this.#open = this.#isLarge
      ? { records: 1, bytes: this.#link.maxPayload + messageOverhead, received: 0 }
      : { records: room, bytes: pullBytes, received: 0 };
    const request = {
      batch: this.#open.records,
      max_bytes: this.#open.bytes,
      expires: requestMs * nanoseconds,
      idle_heartbeat: this.#silence.periodMs * nanoseconds,
    };
    const { stream, consumer } = this.#target;
    const subject = `$JS.API.CONSUMER.MSG.NEXT.${stream}.${consumer}`;
    this.#link.nc.publish(subject, JSON.stringify(request), { reply: this.#inbox });
  }

  end(reason: string): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#stopWatchingSilence();
    this.#stopWatchingLink();
    if (!this.#link.nc.isClosed()) this.#subscription.unsubscribe();
    this.#ended.resolve(reason);
  }

  #receive(message: Msg): void {
    if (this.#isEnded) return;
    this.#lastMessageAt = this.#clock.monotonic();
    const { headers } = message;
    if (headers !== undefined && headers.code > 0) return this.#status(headers);
    const ack = parseAckSubject(message.reply ?? '');
    const { stream, consumer } = this.#target;
    if (ack?.stream !== stream || ack.consumer !== consumer)
      return this.end(`unexpected message with reply subject "${message.reply}"`);
    this.#count(sizeOf(message));
    this.#isLarge = false;
    this.#deliveries += 1;
    if (ack.delivery !== this.#deliveries) return this.end('a delivery is missing');
    this.#events.delivered(ack.offset, message);
    this.pull();
  }

  /** Counts a record as the server does. */
  #count(bytes: number): void {
    if (this.#open === undefined) return;
    this.#open.records -= 1;
    this.#open.bytes -= bytes;
    this.#open.received += 1;
    if (this.#open.records <= 0 || this.#open.bytes <= 0) this.#open = undefined;
  }

  #status(headers: MsgHdrs): void {
    const { code } = headers;
    if (code === heartbeat) {
      this.#events.skippedTo(Number(headers.get('Nats-Last-Stream')));
      return;
    }
    // A request that ends early reports what is pending. Anything else: the consumer is gone or has moved.
    if (headers.get('Nats-Pending-Messages') === '' || code === noResponders) return this.end(headers.status);
    if (code === conflict && this.#open?.received === 0) this.#isLarge = true;
    this.#open = undefined;
    this.pull();
  }

  /** After two missing heartbeats the consumer, the stream or the server is considered gone. */
  #checkSilence(): void {
    const silentMs = this.#clock.monotonic() - this.#lastMessageAt;
    if (this.#open !== undefined && silentMs > 2 * this.#silence.periodMs) this.end('no heartbeat');
  }
}

/** Bytes of subject, reply subject, headers and data, which a server subtracts from `max_bytes`. The type of messages lacks it. */
function sizeOf(message: Msg): number {
  return (message as Msg & { size(): number }).size();
}

/**
 * Reads stream, consumer, stream sequence and delivery count from a reply subject:
 * `$JS.ACK.[domain.account.]stream.consumer.redeliveries.offset.delivery.time.pending[.token]`.
 */
function parseAckSubject(
  reply: string,
): { stream: string; consumer: string; offset: number; delivery: number } | undefined {
  const tokens = reply.split('.');
  if (tokens[1] !== 'ACK' || tokens.length < 9) return undefined;
  const [stream = '', consumer = '', , offset, delivery] = tokens.slice(tokens.length === 9 ? 2 : 4);
  return { stream, consumer, offset: Number(offset), delivery: Number(delivery) };
}

/** Checks all sessions of a process with one timer: one for each would wake an idle process for each partition. */
export class SilenceWatch {
  readonly #clock: Clock;
  /** Time between checks, in milliseconds. */
  readonly periodMs: number;
  readonly #checks = new Set<() => void>();
  #cancel: Cancel | undefined;

  constructor(clock: Clock, periodMs: number) {
    this.#clock = clock;
    this.periodMs = periodMs;
  }

  /** Calls `check` every period until the returned function is called. */
  add(check: () => void): Cancel {
    this.#checks.add(check);
    this.#cancel ??= this.#schedule();
    return () => {
      this.#checks.delete(check);
      if (this.#checks.size > 0) return;
      this.#cancel?.();
      this.#cancel = undefined;
    };
  }

  #schedule(): Cancel {
    return this.#clock.schedule(this.periodMs, () => {
      this.#cancel = this.#schedule();
      for (const check of [...this.#checks]) check();
    });
  }
}
