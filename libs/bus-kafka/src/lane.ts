import type { WireMessage } from 'kafkajs/src/protocol/requests/produce/v7/request.js';
import { messageBytes } from './records.ts';

/** Records that are sent together, and sent again as they are until the broker has them. */
export interface Batch {
  readonly messages: readonly WireMessage[];
  readonly appends: readonly Append[];
}

/** What one call of `append` gave, as far as it is not in a batch yet. */
export interface Append {
  readonly messages: WireMessage[];
  /** Batches that hold some of it, and are not acknowledged. */
  batches: number;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/** kafkajs encodes a batch in one go; it should not take long. */
const maxBatchMessages = 1_000;

/** What is appended to one partition: one batch at a time is under way. */
export class Lane {
  readonly topic: string;
  readonly partition: number;
  readonly #capacity: number;
  #waiting: Append[] = [];
  #batch: Batch | undefined;
  /** Attempts at the batch that failed. */
  failures = 0;

  /** `capacity` in bytes, of one batch. */
  constructor(topic: string, partition: number, capacity: number) {
    this.topic = topic;
    this.partition = partition;
    this.#capacity = capacity;
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

  /** The batch under way, or the next one. Undefined if there is nothing to send. */
  batch(): Batch | undefined {
    if (this.#batch === undefined && this.#waiting.length > 0) this.#batch = this.#fill();
    return this.#batch;
  }

  acknowledged(): void {
    for (const append of this.#end().appends) {
      append.batches -= 1;
      if (append.batches === 0 && append.messages.length === 0) append.resolve();
    }
  }

  /** The batch is not in the log and will not be. What else its calls gave is not sent: it would be out of order. */
  refused(error: Error): void {
    const { appends } = this.#end();
    this.#waiting = this.#waiting.filter((append) => !appends.includes(append));
    for (const append of appends) append.reject(error);
  }

  close(error: Error): void {
    for (const append of [...(this.#batch?.appends ?? []), ...this.#waiting]) append.reject(error);
    this.#waiting = [];
    this.#batch = undefined;
  }

  #end(): Batch {
    const batch = this.#batch ?? { messages: [], appends: [] };
    this.#batch = undefined;
    this.failures = 0;
    return batch;
  }

  #fill(): Batch {
    const messages: WireMessage[] = [];
    const appends: Append[] = [];
    let bytes = 0;
    while (this.#waiting[0] !== undefined) {
      const append = this.#waiting[0];
      let taken = 0;
      for (const message of append.messages) {
        bytes += messageBytes(message);
        if (messages.length > 0 && (bytes > this.#capacity || messages.length === maxBatchMessages)) break;
        messages.push(message);
        taken++;
      }
      append.messages.splice(0, taken);
      if (taken > 0) {
        append.batches += 1;
        appends.push(append);
      }
      if (append.messages.length > 0) break;
      this.#waiting.shift();
    }
    return { messages, appends };
  }
}
