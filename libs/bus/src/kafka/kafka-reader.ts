import { DeliveryBuffer } from '../delivery-buffer.ts';
import { type Delivery, LogTruncatedError, type PartitionReader, type StreamOffset } from '../index.ts';
import type { OffsetRange } from './brokers.ts';
import type { WireRecord } from './kafkajs-internals.ts';
import { offsetOf, toDelivery } from './records.ts';

/** The fetcher skips a reader that buffers this many bytes. One more response may still arrive. */
const bufferBytes = 1024 * 1024;

/** Reads one partition: checks fetched records against its offset and buffers them for `next`. */
export class KafkaReader implements PartitionReader {
  readonly topic: string;
  readonly partition: number;
  readonly #onChange: (reader: KafkaReader) => void;
  #streamId: string;
  /** `Delivery.offset` and id of the last buffered record, or of the record after which reading starts. */
  #offset: number;
  #id: string;
  /** False until the log is known to hold the record of `#offset` and `#id`. */
  #verified = false;
  readonly #buffer = new DeliveryBuffer((bytes) => this.#taken(bytes));
  #truncated: LogTruncatedError | undefined;
  #closed = false;

  /** Calls `onChange` when the reader closes or has room again. */
  constructor(topic: string, partition: number, after: StreamOffset, onChange: (reader: KafkaReader) => void) {
    this.topic = topic;
    this.partition = partition;
    this.#onChange = onChange;
    this.#streamId = after.streamId;
    this.#offset = after.offset;
    this.#id = after.id;
    this.invalidate();
  }

  get streamId(): string {
    return this.#streamId;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Whether the fetcher should fetch for this reader. */
  get hasRoom(): boolean {
    return !this.#closed && this.#truncated === undefined && this.#buffer.bytes < bufferBytes;
  }

  /** Kafka's offset to fetch from. An unverified reader fetches its last record again, to compare the id. */
  get fetchOffset(): number {
    // Kafka's offset of the next record is the Delivery.offset of the last one.
    return this.#verified ? this.#offset : this.#offset - 1;
  }

  next(max: number): Promise<readonly Delivery[]> {
    return this.#buffer.next(max);
  }

  /** Does nothing: Kafka deletes records by age. */
  release(): void {}

  close(): void {
    this.#closed = true;
    this.#buffer.close();
    this.#onChange(this);
  }

  /** Checks the id that the topic has now. */
  checkTopicId(topicId: string): void {
    if (this.#streamId === '') this.#streamId = topicId;
    else if (this.#streamId !== topicId) this.#truncate('the topic was deleted and created again');
  }

  /** Requires the last record to be verified again, for example after the connection was lost. */
  invalidate(): void {
    // No record precedes the first, and an offset at the end of an empty log has no id.
    this.#verified = this.#offset === 0 || this.#id === '';
  }

  /**
   * Buffers the records fetched from `fetchOffset` or before. False if they do not show whether the log still holds the
   * last record: call `checkRange` then.
   */
  accept(records: readonly WireRecord[]): boolean {
    let index = 0;
    if (!this.#verified) {
      index = records.findIndex((record) => offsetOf(record) === this.#offset);
      const record = records[index];
      if (record === undefined) return false;
      const { id } = toDelivery(record);
      if (id !== this.#id) {
        this.#truncate(`expected record ${this.#id} at this offset, found ${id}`);
        return true;
      }
      this.#verified = true;
    }
    for (; index < records.length; index++) {
      const record = records[index];
      if (record === undefined || offsetOf(record) <= this.#offset) continue;
      const delivery = toDelivery(record);
      if (delivery.offset !== this.#offset + 1) {
        this.#truncate(`the next record has offset ${delivery.offset}`);
        break;
      }
      this.#offset = delivery.offset;
      this.#id = delivery.id;
      this.#buffer.push(delivery);
    }
    return true;
  }

  /** Checks whether the log, which holds the given range of Kafka's offsets, continues after the last record. */
  checkRange({ logStart, highWatermark }: OffsetRange): void {
    if (highWatermark < this.#offset) this.#truncate(`the log ends at offset ${highWatermark}`);
    else if (logStart > this.#offset) this.#truncate(`the log starts at offset ${logStart + 1}`);
    // The last record was deleted, but none after it.
    else if (logStart === this.#offset) this.#verified = true;
  }

  #truncate(reason: string): void {
    this.#truncated ??= new LogTruncatedError(
      `log of ${this.topic}/${this.partition} does not continue after offset ${this.#offset}: ${reason}`,
    );
    this.#buffer.fail(this.#truncated);
  }

  #taken(bytes: number): void {
    const hadRoom = this.#buffer.bytes + bytes < bufferBytes;
    if (!hadRoom && this.hasRoom) this.#onChange(this);
  }
}
