import { type Delivery, LogTruncatedError, type PartitionReader, type StreamOffset } from '@sluice/bus';
import type { WireRecord } from 'kafkajs/src/protocol/recordBatch/v0/decoder.js';
import { offsetAfter, toDelivery } from './records.ts';

/** A reader with this many bytes waiting for `next` is not fetched for: one response more may still come. */
const bufferBytes = 1024 * 1024;

/** Reads one partition: checks what the fetcher brings against its cursor, and keeps it until it is asked for. */
export class KafkaReader implements PartitionReader {
  readonly topic: string;
  readonly partition: number;
  readonly #changed: (reader: KafkaReader) => void;
  #streamId: string;
  /** Of the last record that was fetched, or of the cursor. */
  #offset: number;
  #id: string;
  /** False until the record at the offset was seen to be the one that was read. */
  #verified = false;
  #buffer: Delivery[] = [];
  #bufferedBytes = 0;
  #lost: LogTruncatedError | undefined;
  #closed = false;
  #wake: (() => void) | undefined;

  constructor(topic: string, partition: number, after: StreamOffset, changed: (reader: KafkaReader) => void) {
    this.topic = topic;
    this.partition = partition;
    this.#changed = changed;
    this.#streamId = after.streamId;
    this.#offset = after.offset;
    this.#id = after.id;
    this.doubt();
  }

  get streamId(): string {
    return this.#streamId;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Whether it takes more records now. */
  get wants(): boolean {
    return !this.#closed && this.#lost === undefined && this.#bufferedBytes < bufferBytes;
  }

  get position(): number {
    return this.#offset;
  }

  /** Kafka's offset to fetch from: a record's offset is its offset + 1. */
  get offset(): number {
    return this.#verified ? this.#offset : this.#offset - 1;
  }

  async next(max: number): Promise<readonly Delivery[]> {
    for (;;) {
      if (this.#closed) return [];
      if (this.#buffer.length > 0) return this.#take(max);
      if (this.#lost !== undefined) throw this.#lost;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** Nothing to do: Kafka drops records by their age. */
  release(): void {}

  close(): void {
    this.#closed = true;
    this.#buffer = [];
    this.#notify();
    this.#changed(this);
  }

  /** The topic under the name has this id now. */
  bind(topicId: string): void {
    if (this.#streamId === '') this.#streamId = topicId;
    else if (this.#streamId !== topicId) this.lose('the topic was made anew');
  }

  /** Have the record at the offset looked at again, say after the connection was lost. */
  doubt(): void {
    // Nothing stands before the first record; a cursor at the end of an emptied log knows no id.
    this.#verified = this.#offset === 0 || this.#id === '';
  }

  /**
   * Takes what was fetched from `offset` or before it. False if it does not tell whether the log still holds the record
   * at the offset; `settle` does then.
   */
  accept(records: readonly WireRecord[]): boolean {
    let index = 0;
    if (!this.#verified) {
      index = records.findIndex((record) => offsetAfter(record) === this.#offset);
      const record = records[index];
      if (record === undefined) return false;
      const { id } = toDelivery(record);
      if (id !== this.#id) {
        this.lose(`record ${id} stands where ${this.#id} was read`);
        return true;
      }
      this.#verified = true;
    }
    for (; index < records.length; index++) {
      const record = records[index];
      if (record === undefined || offsetAfter(record) <= this.#offset) continue;
      const delivery = toDelivery(record);
      if (delivery.offset !== this.#offset + 1) {
        this.lose(`the log goes on at offset ${delivery.offset}`);
        break;
      }
      this.#offset = delivery.offset;
      this.#id = delivery.id;
      this.#buffer.push(delivery);
      this.#bufferedBytes += delivery.payload.length;
    }
    this.#notify();
    return true;
  }

  /** The log holds the offsets from `earliest` to before `latest`. */
  settle(earliest: number, latest: number): void {
    if (latest < this.#offset) this.lose(`the log ends at offset ${latest}`);
    else if (earliest > this.#offset) this.lose(`the log begins at offset ${earliest + 1}`);
    // The record at the offset is gone, but nothing after it.
    else if (earliest === this.#offset) this.#verified = true;
  }

  lose(reason: string): void {
    this.#lost ??= new LogTruncatedError(
      `${this.topic}/${this.partition} does not follow from offset ${this.#offset}: ${reason}`,
    );
    this.#notify();
  }

  #take(max: number): readonly Delivery[] {
    const wanted = this.wants;
    const taken = this.#buffer.splice(0, max);
    for (const { payload } of taken) this.#bufferedBytes -= payload.length;
    if (!wanted && this.wants) this.#changed(this);
    return taken;
  }

  #notify(): void {
    this.#wake?.();
    this.#wake = undefined;
  }
}
