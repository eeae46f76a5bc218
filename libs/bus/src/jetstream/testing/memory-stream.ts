import type { StreamConfig } from '@nats-io/jetstream';
import type { MsgHdrs } from '@nats-io/nats-core';
import type { Delivery } from '../../index.ts';
import { toDelivery } from '../record-message.ts';

/** A message in a stream. */
export interface StoredMessage {
  readonly sequence: number;
  readonly subject: string;
  readonly headers: MsgHdrs | undefined;
  readonly data: Uint8Array;
  /** When it was stored, in milliseconds. */
  readonly time: number;
}

export type Published = Pick<StoredMessage, 'subject' | 'headers' | 'data'> & { readonly reply: string };

/** What a server answers to a publish. */
export type PubAck =
  | { readonly stream: string; readonly seq: number; readonly duplicate?: true; readonly count?: number }
  | { readonly type: 'ack'; readonly seq: number; readonly msgs: number }
  | { readonly type: 'gap'; readonly last_seq: number; readonly seq: number }
  | { readonly error: { readonly code: number; readonly err_code: number; readonly description: string } };

/** A fast batch that has not ended. */
interface Batch {
  /** Messages received. */
  readonly count: number;
  /** Sequence of the last one that was stored; 0 if all were known. */
  readonly last: number;
  /** When the last message arrived, in milliseconds. */
  readonly time: number;
}

/** After which a server forgets a batch to which nothing is added. */
const batchTimeoutMs = 10_000;

/** Everything that a server keeps of a stream. */
interface Content {
  readonly messages: readonly StoredMessage[];
  readonly last: number;
  readonly ids: ReadonlyMap<string, { readonly sequence: number; readonly time: number }>;
}

const nanoseconds = 1_000_000;

const refusal = (err_code: number, description: string): PubAck => ({ error: { code: 400, err_code, description } });

/**
 * A stream of JetStream with one replica: message ids that are known within the duplicate window, limits of bytes and age with
 * `discard: old`, and fast batches that end at a gap.
 */
export class MemoryStream {
  readonly config: StreamConfig;
  readonly created: string;
  readonly #now: () => number;
  #messages: StoredMessage[] = [];
  #bytes = 0;
  #maxBytes: number;
  #last = 0;
  #ids = new Map<string, { readonly sequence: number; readonly time: number }>();
  readonly #batches = new Map<string, Batch>();

  constructor(config: StreamConfig, created: string, now: () => number) {
    this.config = config;
    this.#maxBytes = config.max_bytes > 0 ? config.max_bytes : Number.POSITIVE_INFINITY;
    this.created = created;
    this.#now = now;
  }

  get state() {
    this.#expire();
    const first_seq = this.#messages[0]?.sequence ?? this.#last + 1;
    return { messages: this.#messages.length, bytes: this.#bytes, first_seq, last_seq: this.#last };
  }

  get last(): StoredMessage | undefined {
    return this.#messages.at(-1);
  }

  /** The last message as the adapter delivers it. */
  get lastRecord(): Delivery | undefined {
    const { last } = this;
    return last && toDelivery(last.sequence, last.headers, last.data);
  }

  get(sequence: number): StoredMessage | undefined {
    this.#expire();
    return this.#messages.find((message) => message.sequence === sequence);
  }

  /** The first message with this sequence or a later one. */
  next(sequence: number): StoredMessage | undefined {
    this.#expire();
    const first = this.#messages[0]?.sequence;
    if (first === undefined) return undefined;
    const at = Math.max(0, sequence - first);
    // Sequences have no gaps: messages are deleted at both ends only.
    return this.#messages[at];
  }

  publish(message: Published): readonly PubAck[] {
    this.#expire();
    const [, id = '', flow, count, operation] = /\.([^.]+)\.(\d+)\.fail\.(\d+)\.(\d)\.\$FI$/.exec(message.reply) ?? [];
    if (id !== '') return this.#publishInBatch(message, id, Number(count), operation === '2', Number(flow));
    const known = this.#known(message);
    if (known !== undefined) return [{ stream: this.config.name, seq: known, duplicate: true }];
    this.#store(message);
    return [{ stream: this.config.name, seq: this.#last }];
  }

  save(): Content {
    return { messages: [...this.#messages], last: this.#last, ids: new Map(this.#ids) };
  }

  load({ messages, last, ids }: Content): void {
    this.#messages = [...messages];
    this.#bytes = this.#messages.reduce((sum, message) => sum + sizeOf(message), 0);
    this.#last = last;
    this.#ids = new Map(ids);
    this.#batches.clear();
  }

  /** Removes all messages; sequences continue. */
  purge(): void {
    this.#messages = [];
    this.#bytes = 0;
  }

  /** Changes the limit of the stream's size; undefined: none. */
  limitBytes(bytes = Number.POSITIVE_INFINITY): void {
    this.#maxBytes = bytes;
    this.#discard();
  }

  /** Loses the last `count` messages, as after a power failure; later ones reuse their sequences. */
  loseLast(count: number): void {
    const kept = this.#messages.slice(0, -count);
    const lost = this.#messages.slice(kept.length);
    const ids = new Map(this.#ids);
    for (const { headers } of lost) ids.delete(headers?.get('Nats-Msg-Id') ?? '');
    this.load({ messages: kept, last: this.#last - lost.length, ids });
  }

  /** `count`: number of the message in its batch, from 1. */
  #publishInBatch(message: Published, id: string, count: number, commits: boolean, flow: number): readonly PubAck[] {
    const stream = this.config.name;
    const batch = this.#batches.get(id) ?? { count: 0, last: 0 };
    if (count > 1 && batch.count === 0) return [refusal(10208, 'batch publish ID is unknown')];
    if (count !== batch.count + 1) {
      this.#batches.delete(id);
      const gap = { type: 'gap', last_seq: batch.count + 1, seq: count } as const;
      return [gap, { stream, seq: batch.last, count: batch.count }];
    }
    const known = this.#known(message);
    if (known === undefined) this.#store(message);
    const last = known === undefined ? this.#last : batch.last;
    if (commits) {
      this.#batches.delete(id);
      const isRepeated = count === 1 && known !== undefined;
      return [isRepeated ? { stream, seq: known, duplicate: true, count } : { stream, seq: last, count }];
    }
    this.#batches.set(id, { count, last, time: this.#now() });
    const started: readonly PubAck[] = count === 1 ? [{ type: 'ack', seq: 0, msgs: flow }] : [];
    return count % flow === 0 ? [...started, { type: 'ack', seq: count, msgs: flow }] : started;
  }

  #known({ headers }: Published): number | undefined {
    return this.#ids.get(headers?.get('Nats-Msg-Id') ?? '')?.sequence;
  }

  #store({ subject, headers, data }: Published): void {
    const stored = { subject, headers, data, sequence: ++this.#last, time: this.#now() };
    this.#messages.push(stored);
    this.#bytes += sizeOf(stored);
    const id = headers?.get('Nats-Msg-Id');
    if (id) this.#ids.set(id, { sequence: stored.sequence, time: stored.time });
    this.#discard();
  }

  #discard(): void {
    while (this.#bytes > this.#maxBytes) this.#dropFirst();
  }

  #expire(): void {
    const { max_age, duplicate_window } = this.config;
    const now = this.#now();
    while (max_age > 0 && this.#messages[0] !== undefined && now - this.#messages[0].time > max_age / nanoseconds)
      this.#dropFirst();
    for (const [id, { time }] of this.#ids) {
      if (now - time <= duplicate_window / nanoseconds) break;
      this.#ids.delete(id);
    }
    for (const [id, { time }] of this.#batches) if (now - time > batchTimeoutMs) this.#batches.delete(id);
  }

  #dropFirst(): void {
    const first = this.#messages.shift();
    if (first !== undefined) this.#bytes -= sizeOf(first);
  }
}

/** As files of a server count it, about. */
export function sizeOf({ subject, headers, data }: StoredMessage): number {
  let bytes = 30 + subject.length + data.length;
  for (const [name, values] of headers ?? []) for (const value of values) bytes += name.length + value.length + 4;
  return bytes;
}
