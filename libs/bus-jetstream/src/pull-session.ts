import { createInbox, type Msg, type MsgHdrs, type Subscription } from '@nats-io/nats-core';
import type { Cancel, Clock } from '@sluice/runtime';
import type { NatsLink } from './link.ts';

export interface PullTarget {
  readonly stream: string;
  readonly consumer: string;
  readonly inboxPrefix: string;
}

export interface PullEvents {
  /** How many records may come now; 0 while those that are there have not been taken. */
  room(): number;
  /** One record, in the order in which the consumer sent them. */
  delivered(offset: number, message: Msg): void;
  /** The consumer has passed this offset. */
  passed(offset: number): void;
}

/** A request is renewed after so long; while nothing comes, the server says every so often that it is there. */
const requestMs = 30_000;
const heartbeatMs = 2000;
/** Nothing heard for so long: the consumer, the stream or the server is gone. */
const silenceMs = 3 * heartbeatMs;
const nanoseconds = 1_000_000;

/** Room for the subject and the server's own headers, beside the largest message. */
const messageOverhead = 64 * 1024;

const [heartbeat, noResponders] = [100, 503];

/**
 * Pulls records from a consumer that needs no acknowledgement. A request is always open while there is room, so that a
 * record comes at once; it is bounded in records and bytes, so that a reader that does not read is not flooded.
 */
export class PullSession {
  readonly #link: NatsLink;
  readonly #clock: Clock;
  readonly #target: PullTarget;
  readonly #events: PullEvents;
  readonly #inbox: string;
  readonly #subscription: Subscription;
  readonly #ended = Promise.withResolvers<string>();
  readonly #forgetLink: () => void;
  #watch: Cancel = () => {};
  /** Asked for and not delivered yet. */
  #outstanding = 0;
  /** Of the consumer's own count of deliveries. */
  #deliveries = 0;
  #heardAt = 0;
  #over = false;

  constructor(link: NatsLink, clock: Clock, target: PullTarget, events: PullEvents) {
    this.#link = link;
    this.#clock = clock;
    this.#target = target;
    this.#events = events;
    this.#inbox = createInbox(target.inboxPrefix);
    this.#subscription = link.nc.subscribe(this.#inbox, {
      callback: (error, message) => (error === null ? this.#receive(message) : this.end(error.message)),
    });
    this.#forgetLink = link.onDown(() => this.end('the connection was lost'));
  }

  /** Resolves with the reason when nothing more will come. */
  get ended(): Promise<string> {
    return this.#ended.promise;
  }

  start(): void {
    if (this.#over) return;
    this.#heardAt = this.#clock.monotonic();
    this.#listen();
    this.pull();
  }

  /** Asks for more, if there is room and little is on its way. */
  pull(): void {
    const room = this.#events.room();
    if (this.#over || room - this.#outstanding < 1 || this.#outstanding > room / 2) return;
    // Silence counts from the first request on: a reader that had no room was told nothing.
    if (this.#outstanding === 0) this.#heardAt = this.#clock.monotonic();
    const batch = room - this.#outstanding;
    this.#outstanding += batch;
    const request = {
      batch,
      max_bytes: Math.max(1024 * 1024, this.#link.maxPayload + messageOverhead),
      expires: requestMs * nanoseconds,
      idle_heartbeat: heartbeatMs * nanoseconds,
    };
    const { stream, consumer } = this.#target;
    const subject = `$JS.API.CONSUMER.MSG.NEXT.${stream}.${consumer}`;
    this.#link.nc.publish(subject, JSON.stringify(request), { reply: this.#inbox });
  }

  end(reason: string): void {
    if (this.#over) return;
    this.#over = true;
    this.#watch();
    this.#forgetLink();
    if (!this.#link.nc.isClosed()) this.#subscription.unsubscribe();
    this.#ended.resolve(reason);
  }

  #receive(message: Msg): void {
    if (this.#over) return;
    this.#heardAt = this.#clock.monotonic();
    const { headers } = message;
    if (headers !== undefined && headers.code > 0) return this.#status(headers);
    const place = readPlace(message.reply ?? '');
    if (place === undefined) return this.end(`a message of an unknown kind came: ${message.reply}`);
    this.#outstanding -= 1;
    this.#deliveries += 1;
    if (place.delivery !== this.#deliveries) return this.end('a delivery is missing');
    this.#events.delivered(place.offset, message);
    this.pull();
  }

  #status(headers: MsgHdrs): void {
    const { code } = headers;
    if (code === heartbeat) {
      this.#events.passed(Number(headers.get('Nats-Last-Stream')));
      return;
    }
    const pending = headers.get('Nats-Pending-Messages');
    // A request has run out, or is full; anything else means that the consumer is gone or moved.
    if (pending === '' || code === noResponders) return this.end(headers.status);
    this.#outstanding -= Number(pending);
    this.pull();
  }

  #listen(): void {
    this.#watch = this.#clock.schedule(heartbeatMs, () => {
      const silent = this.#clock.monotonic() - this.#heardAt;
      if (this.#outstanding > 0 && silent > silenceMs) return this.end('no heartbeat came');
      this.#listen();
    });
  }
}

/**
 * Where a record stands, from its reply subject:
 * `$JS.ACK.[domain.account.]stream.consumer.redeliveries.offset.delivery.time.pending[.token]`.
 */
function readPlace(reply: string): { offset: number; delivery: number } | undefined {
  const tokens = reply.split('.');
  const at = tokens.length === 9 ? 5 : 7;
  if (tokens[1] !== 'ACK' || tokens.length < 9) return undefined;
  return { offset: Number(tokens[at]), delivery: Number(tokens[at + 1]) };
}
