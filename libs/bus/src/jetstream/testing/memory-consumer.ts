import { headers, type MsgHdrs } from '@nats-io/nats-core';
import type { Cancel, Clock } from '@sluice/platform';
import { type MemoryStream, sizeOf } from './memory-stream.ts';

/** Delivers a message to an inbox. */
export type Send = (inbox: string, message: ConsumerMessage) => void;

export interface ConsumerMessage {
  readonly subject: string;
  readonly reply?: string;
  readonly headers?: MsgHdrs | undefined;
  readonly data?: Uint8Array;
  readonly size?: () => number;
}

/** A pull request, as the client sends it. */
export interface PullRequest {
  readonly batch: number;
  readonly max_bytes: number;
  readonly expires: number;
  readonly idle_heartbeat: number;
}

interface Waiting {
  readonly inbox: string;
  left: number;
  leftBytes: number;
  readonly cancel: Cancel;
}

const nanoseconds = 1_000_000;

/** A pull consumer without acknowledgements that starts at a sequence. */
export class MemoryConsumer {
  readonly #name: string;
  readonly #stream: MemoryStream;
  readonly #clock: Clock;
  readonly #send: Send;
  #next: number;
  #delivered = 0;
  #waiting: Waiting[] = [];
  #quietSince = 0;

  constructor(name: string, stream: MemoryStream, first: number, clock: Clock, send: Send) {
    this.#name = name;
    this.#stream = stream;
    this.#next = first;
    this.#clock = clock;
    this.#send = send;
  }

  pull(inbox: string, { batch, max_bytes, expires, idle_heartbeat }: PullRequest): void {
    const cancels = [
      this.#clock.schedule(expires / nanoseconds, () => this.#expire(waiting)),
      this.#beat(idle_heartbeat / nanoseconds, inbox),
    ];
    const cancel = () => {
      for (const one of cancels) one();
    };
    const waiting: Waiting = { inbox, left: batch, leftBytes: max_bytes, cancel };
    this.#waiting.push(waiting);
    this.deliver();
  }

  /** Delivers what the stream has to the requests that wait. */
  deliver(): void {
    for (;;) {
      const [waiting] = this.#waiting;
      const message = this.#stream.next(this.#next);
      if (waiting === undefined || message === undefined) return;
      const bytes = sizeOf(message);
      if (bytes > waiting.leftBytes) {
        this.#end(waiting, headers(409, 'Message Size Exceeds MaxBytes'));
        continue;
      }
      waiting.leftBytes -= bytes;
      this.#next = message.sequence + 1;
      this.#delivered += 1;
      this.#quietSince = this.#clock.monotonic();
      const { config, state } = this.#stream;
      const pending = state.last_seq - message.sequence;
      const reply = `$JS.ACK.${config.name}.${this.#name}.1.${message.sequence}.${this.#delivered}.${message.time * nanoseconds}.${pending}`;
      const { subject, headers: fields, data } = message;
      this.#send(waiting.inbox, { subject, reply, headers: fields, data, size: () => bytes });
      waiting.left -= 1;
      if (waiting.left === 0 || waiting.leftBytes === 0) this.#finish(waiting);
    }
  }

  /** Ends it, as when it or its stream is deleted. */
  delete(): void {
    for (const waiting of [...this.#waiting]) {
      this.#finish(waiting);
      this.#send(waiting.inbox, { subject: waiting.inbox, headers: headers(409, 'Consumer Deleted') });
    }
  }

  #finish(waiting: Waiting): void {
    waiting.cancel();
    this.#waiting = this.#waiting.filter((one) => one !== waiting);
  }

  #expire(waiting: Waiting): void {
    this.#end(waiting, headers(408, 'Request Timeout'));
  }

  /** Ends a request that got fewer records than it asked for. */
  #end(waiting: Waiting, status: MsgHdrs): void {
    this.#finish(waiting);
    status.set('Nats-Pending-Messages', String(waiting.left));
    this.#send(waiting.inbox, { subject: waiting.inbox, headers: status });
  }

  #beat(periodMs: number, inbox: string): Cancel {
    let cancel: Cancel = () => {};
    const beat = () => {
      cancel = this.#clock.schedule(periodMs, () => {
        beat();
        if (this.#clock.monotonic() - this.#quietSince < periodMs) return;
        const status = headers(100, 'Idle Heartbeat');
        status.set('Nats-Last-Consumer', String(this.#delivered));
        status.set('Nats-Last-Stream', String(this.#next - 1));
        this.#send(inbox, { subject: inbox, headers: status });
      });
    };
    beat();
    return () => cancel();
  }
}
