import type { StreamConfig } from '@nats-io/jetstream';
import type { MsgHdrs } from '@nats-io/nats-core';
import type { Delivery } from '@sluice/bus';
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

export type Published = Pick<StoredMessage, 'subject' | 'headers' | 'data'>;

/** What a server answers to a publish. */
export type PubAck =
  | { readonly stream: string; readonly seq: number; readonly duplicate?: true }
  | { readonly error: { readonly code: number; readonly err_code: number; readonly description: string } };

/** Everything that a server keeps of a stream. */
interface Content {
  readonly messages: readonly StoredMessage[];
  readonly last: number;
  readonly ids: ReadonlyMap<string, { readonly sequence: number; readonly time: number }>;
}

const nanoseconds = 1_000_000;

const refusal = (err_code: number, description: string): PubAck => ({ error: { code: 400, err_code, description } });

/**
 * A stream of JetStream with one replica: message ids that are known within the duplicate window, expected last sequence
 * and message id, limits of bytes and age with `discard: old`, and atomic batches.
 */
export class MemoryStream {
  readonly config: StreamConfig;
  readonly created: string;
  readonly #now: () => number;
  #messages: StoredMessage[] = [];
  #bytes = 0;
  #maxBytes: number;
  #last = 0;
  /** Kept if the message is deleted, until the server restarts. */
  #lastId = '';
  #ids = new Map<string, { readonly sequence: number; readonly time: number }>();
  /** Messages of batches that are not committed yet, by batch. */
  readonly #batches = new Map<string, Published[]>();

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

  /** Undefined: no answer, because the message belongs to a batch that is not complete. */
  publish(message: Published): PubAck | undefined {
    this.#expire();
    const batch = message.headers?.get('Nats-Batch-Id');
    if (batch) return this.#publishInBatch(batch, message);
    const known = this.#known(message);
    if (known !== undefined) return { stream: this.config.name, seq: known, duplicate: true };
    const wrong = this.#unexpected(message);
    if (wrong !== undefined) return wrong;
    this.#store(message);
    return { stream: this.config.name, seq: this.#last };
  }

  save(): Content {
    return { messages: [...this.#messages], last: this.#last, ids: new Map(this.#ids) };
  }

  load({ messages, last, ids }: Content): void {
    this.#messages = [...messages];
    this.#bytes = this.#messages.reduce((sum, message) => sum + sizeOf(message), 0);
    this.#last = last;
    this.#lastId = messages.at(-1)?.headers?.get('Nats-Msg-Id') ?? '';
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

  #publishInBatch(batch: string, message: Published): PubAck | undefined {
    const messages = [...(this.#batches.get(batch) ?? []), message];
    this.#batches.set(batch, messages);
    if (!message.headers?.get('Nats-Batch-Commit')) return undefined;
    this.#batches.delete(batch);
    if (Number(message.headers.get('Nats-Batch-Sequence')) !== messages.length)
      return refusal(10176, 'batch publish is incomplete and was abandoned');
    if (messages.some((one) => this.#known(one) !== undefined))
      return refusal(10201, 'batch publish contains duplicate message id');
    for (const one of messages) this.#store(one);
    return { stream: this.config.name, seq: this.#last };
  }

  #known({ headers }: Published): number | undefined {
    return this.#ids.get(headers?.get('Nats-Msg-Id') ?? '')?.sequence;
  }

  #unexpected({ subject, headers }: Published): PubAck | undefined {
    const lastOfSubject = this.#messages.findLast((message) => message.subject === subject);
    const expected = (header: string) => headers?.get(header) || undefined;
    const wrongSequence = (last: number) => refusal(10071, `wrong last sequence: ${last}`);
    const ofSubject = expected('Nats-Expected-Last-Subject-Sequence');
    if (ofSubject !== undefined && Number(ofSubject) !== (lastOfSubject?.sequence ?? 0))
      return wrongSequence(lastOfSubject?.sequence ?? 0);
    const sequence = expected('Nats-Expected-Last-Sequence');
    if (sequence !== undefined && Number(sequence) !== this.#last) return wrongSequence(this.#last);
    const id = expected('Nats-Expected-Last-Msg-Id');
    return id === undefined || id === this.#lastId ? undefined : refusal(10070, `wrong last msg ID: ${this.#lastId}`);
  }

  #store(message: Published): void {
    const stored = { ...message, sequence: ++this.#last, time: this.#now() };
    this.#messages.push(stored);
    this.#bytes += sizeOf(stored);
    const id = message.headers?.get('Nats-Msg-Id');
    this.#lastId = id ?? '';
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
