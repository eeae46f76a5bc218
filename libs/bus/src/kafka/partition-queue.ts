import type { WireMessage } from './kafkajs-internals.ts';
import { messageBytes } from './records.ts';

/** Records that are sent together, and sent again unchanged until the broker has them. */
interface Batch {
  readonly messages: readonly WireMessage[];
  /** The appends that its messages are from, in their order, with the number of messages of each. */
  readonly appends: readonly { readonly append: Append; readonly count: number }[];
}

/** One call of `append`. */
interface Append {
  /** Messages that are not in a batch yet. */
  readonly messages: WireMessage[];
  /** Number of unacknowledged batches that hold some of its messages. */
  batches: number;
  /** `Delivery.offset` of each of its acknowledged messages. */
  readonly offsets: number[];
  readonly resolve: (offsets: readonly number[]) => void;
  readonly reject: (error: Error) => void;
}

/** kafkajs encodes a batch synchronously; this bounds how long that blocks the event loop. */
const maxBatchMessages = 1_000;

/** Appends to one partition. One batch at a time is in flight. */
export class PartitionQueue {
  readonly topic: string;
  readonly partition: number;
  readonly #batchCapacity: () => number;
  #waiting: Append[] = [];
  #batch: Batch | undefined;
  /** Lower after a broker has rejected a batch. */
  #maxBatchMessages = maxBatchMessages;
  /** Failed attempts to send the batch. */
  failures = 0;

  /** @param batchCapacity size limit of a batch, in bytes */
  constructor(topic: string, partition: number, batchCapacity: () => number) {
    this.topic = topic;
    this.partition = partition;
    this.#batchCapacity = batchCapacity;
  }

  get idle(): boolean {
    return this.#batch === undefined && this.#waiting.length === 0;
  }

  get name(): string {
    return `${this.topic}/${this.partition}`;
  }

  add(append: Append): void {
    this.#waiting.push(append);
  }

  /** The batch in flight, or else the next one. Undefined if nothing is waiting. */
  batch(): Batch | undefined {
    if (this.#batch === undefined && this.#waiting.length > 0) this.#batch = this.#nextBatch();
    return this.#batch;
  }

  /** The broker has the batch, whose first message has this `Delivery.offset`. */
  acknowledge(first: number): void {
    let next = first;
    this.#maxBatchMessages = Math.min(maxBatchMessages, this.#maxBatchMessages * 2);
    for (const { append, count } of this.#completeBatch().appends) {
      for (const end = next + count; next < end; next++) append.offsets.push(next);
      append.batches -= 1;
      if (append.batches === 0 && append.messages.length === 0) append.resolve(append.offsets);
    }
  }

  /**
   * Has the messages of the batch sent again in batches half as large. Returns false if it holds only one.
   */
  split(): boolean {
    const { messages, appends } = this.#batch ?? { messages: [], appends: [] };
    if (messages.length < 2) return false;
    this.#completeBatch();
    this.#maxBatchMessages = Math.ceil(messages.length / 2);
    let end = messages.length;
    for (const { append, count } of appends.toReversed()) {
      append.batches -= 1;
      append.messages.unshift(...messages.slice(end - count, end));
      end -= count;
      if (this.#waiting[0] !== append) this.#waiting.unshift(append);
    }
    return true;
  }

  /**
   * The broker will never accept the batch. Drops the remaining messages of its appends: they would be out of order.
   *
   * @param error called with the offsets of those messages of an append that are stored
   */
  reject(error: (offsets: readonly number[]) => Error): void {
    const appends = this.#completeBatch().appends.map(({ append }) => append);
    this.#waiting = this.#waiting.filter((append) => !appends.includes(append));
    for (const append of appends) append.reject(error(append.offsets));
  }

  close(error: Error): void {
    for (const { append } of this.#batch?.appends ?? []) append.reject(error);
    for (const append of this.#waiting) append.reject(error);
    this.#waiting = [];
    this.#batch = undefined;
  }

  #completeBatch(): Batch {
    const batch = this.#batch ?? { messages: [], appends: [] };
    this.#batch = undefined;
    this.failures = 0;
    return batch;
  }

  #nextBatch(): Batch {
    const messages: WireMessage[] = [];
    const appends: { readonly append: Append; readonly count: number }[] = [];
    let bytes = 0;
    const capacity = this.#batchCapacity();
    while (this.#waiting[0] !== undefined) {
      const append = this.#waiting[0];
      let taken = 0;
      for (const message of append.messages) {
        bytes += messageBytes(message);
        if (messages.length > 0 && (bytes > capacity || messages.length === this.#maxBatchMessages)) break;
        messages.push(message);
        taken++;
      }
      append.messages.splice(0, taken);
      if (taken > 0) {
        append.batches += 1;
        appends.push({ append, count: taken });
      }
      if (append.messages.length > 0) break;
      this.#waiting.shift();
    }
    return { messages, appends };
  }
}
