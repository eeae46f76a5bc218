import {
  type Msg,
  type MsgCallback,
  type MsgHdrs,
  type NatsConnection,
  type Status,
  TimeoutError,
} from '@nats-io/nats-core';
import type { Clock } from '@sluice/platform';
import type { Bus } from '../../index.ts';
import { openJetStreamBus } from '../jetstream-bus.ts';
import { NatsLink } from '../link.ts';
import { type JetStreamBusOptions, type JetStreamBusPorts, settings } from '../options.ts';
import type { ConsumerMessage } from './memory-consumer.ts';
import type { Client, MemoryNats } from './memory-nats.ts';

interface MemoryJetStreamOptions extends Omit<JetStreamBusOptions, 'servers'> {
  readonly nats: MemoryNats;
  /** Largest message that the server accepts, in bytes. Default 1 MiB. */
  readonly maxPayload?: number;
}

/** The production adapter on a server in this process. */
export async function memoryJetStreamBus(
  { nats, maxPayload = 1024 * 1024, ...options }: MemoryJetStreamOptions,
  ports: JetStreamBusPorts,
): Promise<Bus> {
  const connection = memoryConnection(nats, ports.clock, maxPayload);
  const link = new NatsLink(connection, ports.logger);
  return openJetStreamBus(link, settings({ ...options, servers: ['memory'] }), ports);
}

interface Subscription {
  readonly subject: string;
  readonly callback: MsgCallback<Msg>;
}

interface PublishOptions {
  readonly headers?: MsgHdrs;
  readonly reply?: string;
}

const server = 'memory';
const empty = new Uint8Array();

/** A client's connection to a server in this process, with the part of the interface that the adapter uses. */
export function memoryConnection(nats: MemoryNats, clock: Clock, maxPayload: number): NatsConnection {
  return new MemoryConnection(nats, clock, maxPayload) as unknown as NatsConnection;
}

class MemoryConnection implements Client {
  readonly info: { readonly max_payload: number; readonly jetstream: true; readonly version: string };
  readonly options = { inboxPrefix: '_INBOX' };
  readonly features = { get: () => ({ min: '0.0.0', ok: true }), supports: () => true, require: () => {} };
  readonly #nats: MemoryNats;
  readonly #clock: Clock;
  readonly #remove: () => void;
  readonly #subscriptions = new Set<Subscription>();
  #status: Status[] = [];
  #wake: () => void = () => {};
  #closed = false;
  #connected = true;
  /** Answers to what was sent over an earlier connection never arrive. */
  #connections = 1;

  constructor(nats: MemoryNats, clock: Clock, maxPayload: number) {
    this.info = { max_payload: maxPayload, jetstream: true, version: '2.14.0' };
    this.#nats = nats;
    this.#clock = clock;
    this.#remove = nats.add(this);
  }

  publish(subject: string, payload: Uint8Array | string = empty, { headers, reply = '' }: PublishOptions = {}): void {
    if (!this.#isUp) return;
    const data = typeof payload === 'string' ? Buffer.from(payload) : payload;
    this.#nats.publish({ subject, headers, data, reply }, this.#send());
  }

  subscribe(subject: string, { callback }: { readonly callback: MsgCallback<Msg> }) {
    const subscription = { subject, callback };
    this.#subscriptions.add(subscription);
    return { unsubscribe: () => this.#subscriptions.delete(subscription) };
  }

  async request(subject: string, payload: Uint8Array, { timeout }: { readonly timeout: number }): Promise<Msg> {
    const connection = this.#connections;
    const body = payload.length === 0 ? {} : JSON.parse(Buffer.from(payload).toString());
    const answer = this.#isUp ? this.#nats.request(subject, body, this.#send()) : undefined;
    await Promise.resolve();
    if (answer === undefined || connection !== this.#connections) {
      await new Promise<void>((resolve) => this.#clock.schedule(timeout, resolve));
      throw new TimeoutError();
    }
    return { data: Buffer.from(JSON.stringify(answer)) } as unknown as Msg;
  }

  async *status(): AsyncGenerator<Status> {
    while (!this.#closed) {
      const [next, ...rest] = this.#status;
      this.#status = rest;
      if (next !== undefined) yield next;
      else
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
    }
  }

  disconnected(): void {
    if (!this.#connected) return;
    this.#connected = false;
    this.#connections += 1;
    this.#notify({ type: 'disconnect', server });
  }

  reconnected(): void {
    if (this.#connected) return;
    this.#connected = true;
    this.#notify({ type: 'reconnect', server });
  }

  get #isUp(): boolean {
    return this.#connected && this.#nats.isUp && !this.#closed;
  }

  getServer(): string {
    return server;
  }

  isClosed(): boolean {
    return this.#closed;
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#connections += 1;
    this.#remove();
    this.#wake();
  }

  #notify(status: Status): void {
    this.#status.push(status);
    this.#wake();
  }

  /** Delivers to the subscriptions of this connection, unless it is cut before. */
  #send() {
    const connection = this.#connections;
    return (inbox: string, message: ConsumerMessage): void =>
      queueMicrotask(() => {
        if (connection !== this.#connections) return;
        for (const { subject, callback } of [...this.#subscriptions]) {
          const isMatch = subject.endsWith('.>') ? inbox.startsWith(subject.slice(0, -1)) : inbox === subject;
          if (isMatch) callback(null, { data: empty, ...message } as unknown as Msg);
        }
      });
  }
}
