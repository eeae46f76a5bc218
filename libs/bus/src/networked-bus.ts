import type { Clock, Logger } from '@sluice/platform';
import type { AppendedOffsets, Bus, BusRecord, Delivery, PartitionReader, StreamOffset, Topic } from './bus.ts';
import { ChunkAssembler, chunkOf, splitRecord } from './chunks.ts';
import { ForwardingBus } from './forwarding-bus.ts';
import {
  appendAcceptable,
  isRecordRejectedError,
  markRejected,
  oversizedPayload,
  RecordRejectedError,
  rejectionOf,
} from './records.ts';

/**
 * Joins the chunks that another reader delivers. Records that follow a message's first chunk wait until the message is
 * complete, so a stored offset is never in the middle of a message. They wait only briefly: a sender may have died.
 */
class ChunkedReader implements PartitionReader {
  readonly #inner: PartitionReader;
  readonly #assembler: ChunkAssembler;
  readonly #clock: Clock;
  readonly #maxHeldBytes: number;
  /** Deliveries that wait for an incomplete message, by offset. */
  #held: Delivery[] = [];
  #heldBytes = 0;
  #ready: Delivery[] = [];
  #reading: Promise<readonly Delivery[]> | undefined;
  #closed = false;

  constructor(inner: PartitionReader, assembler: ChunkAssembler, clock: Clock, maxHeldBytes: number) {
    this.#inner = inner;
    this.#assembler = assembler;
    this.#clock = clock;
    this.#maxHeldBytes = maxHeldBytes;
  }

  get streamId(): string {
    return this.#inner.streamId;
  }

  async next(max: number): Promise<readonly Delivery[]> {
    for (;;) {
      if (this.#closed) return [];
      this.#release();
      if (this.#ready.length > 0) return this.#ready.splice(0, max);
      const records = await this.#read(max);
      if (records === undefined) continue;
      if (records.length === 0) return [];
      for (const record of records) this.#add(record);
    }
  }

  release(offset: number): void {
    this.#inner.release(offset);
  }

  close(): void {
    this.#closed = true;
    this.#inner.close();
  }

  /** The next records, or undefined when held records may be due first. */
  async #read(max: number): Promise<readonly Delivery[] | undefined> {
    this.#reading ??= this.#inner.next(max);
    // A failure is reported by the next call that waits for it.
    this.#reading.catch(() => {});
    try {
      const records = await this.#orDue(this.#reading);
      if (records !== undefined) this.#reading = undefined;
      return records;
    } catch (error) {
      this.#reading = undefined;
      if (this.#held.length === 0) throw error;
      // What was received before the log was truncated comes first.
      this.#assembler.releaseAll();
      return undefined;
    }
  }

  async #orDue(reading: Promise<readonly Delivery[]>): Promise<readonly Delivery[] | undefined> {
    const now = this.#clock.monotonic();
    const at = this.#held.length > 0 ? this.#assembler.nextRelease(now) : undefined;
    if (at === undefined) return reading;
    const due = Promise.withResolvers<undefined>();
    const cancel = this.#clock.schedule(at - now, () => due.resolve(undefined));
    try {
      return await Promise.race([reading, due.promise]);
    } finally {
      cancel();
    }
  }

  #add(record: Delivery): void {
    const chunk = chunkOf(record);
    const delivery = chunk === undefined ? record : this.#assembler.add(record, chunk, this.#clock.monotonic());
    if (delivery === undefined) return;
    this.#held.push(delivery);
    if (chunk === undefined) this.#heldBytes += record.message === undefined ? record.payload.length : 0;
    if (this.#heldBytes > this.#maxHeldBytes) this.#assembler.releaseAll();
  }

  #release(): void {
    if (this.#held.length === 0) return;
    const from = this.#assembler.holdsFrom(this.#clock.monotonic()) ?? Number.POSITIVE_INFINITY;
    const count = this.#held.findIndex(({ offset }) => offset >= from);
    const released = count < 0 ? this.#held : this.#held.slice(0, count);
    this.#held = count < 0 ? [] : this.#held.slice(count);
    if (this.#held.length === 0) this.#heldBytes = 0;
    for (const delivery of released) this.#ready.push(delivery);
  }
}

/** How long records wait for the next chunk of a message that began before them. */
const holdMs = 1_000;

/**
 * A bus of servers, for any record. Messages larger than a record are sent in chunks and joined for readers (ADR 0028). What
 * the servers can never store is replaced by a marker, so that no record stops those after it: readers dead-letter the marker
 * and have the Service resynced or its plan redelivered (ADR 0083).
 */
export class NetworkedBus extends ForwardingBus {
  readonly #clock: Clock;
  readonly #logger: Logger;

  constructor(inner: Bus, { clock, logger }: { readonly clock: Clock; readonly logger: Logger }) {
    super(inner);
    this.#clock = clock;
    this.#logger = logger;
  }

  override async append(topic: Topic, partition: number, records: readonly BusRecord[]): Promise<AppendedOffsets> {
    const offsets: number[] = [];
    for (let rest = records; ; ) {
      const { recordBytes } = this.limits;
      try {
        const appended = await this.#appendInChunks(topic, partition, rest);
        return appended && [...offsets, ...appended];
      } catch (error) {
        if (!isRecordRejectedError(error)) throw error;
        rest = rest.slice(error.offsets.length);
        offsets.push(...error.offsets);
        const [rejected, ...others] = rest;
        if (rejected === undefined || rejectionOf(rejected) !== undefined) throw error;
        // The bus has just learned of a lower limit, and splits the record accordingly.
        if (this.limits.recordBytes < recordBytes) continue;
        const marker = markRejected(rejected, error.message);
        const { key, id } = marker;
        this.#logger.error('bus rejected record', { topic, partition, key, id, reason: error.message });
        rest = [marker, ...others];
      }
    }
  }

  override read(topic: Topic, partition: number, after: StreamOffset): PartitionReader {
    const { messageBytes } = this.limits;
    const assembler = new ChunkAssembler({
      maxMessageBytes: messageBytes,
      holdMs,
      onDropped: (key, reason) => this.#logger.warn('dropping incomplete message', { topic, partition, key, reason }),
    });
    return new ChunkedReader(this.inner.read(topic, partition, after), assembler, this.#clock, messageBytes);
  }

  /** @throws RecordRejectedError with the offsets of whole messages */
  async #appendInChunks(topic: Topic, partition: number, records: readonly BusRecord[]): Promise<AppendedOffsets> {
    const { recordBytes, messageBytes } = this.limits;
    if (recordBytes === Number.POSITIVE_INFINITY) return this.inner.append(topic, partition, records);
    return await appendAcceptable(records, oversizedPayload(messageBytes), async (accepted) => {
      const messages = accepted.map((record) => splitRecord(record, recordBytes));
      try {
        const offsets = await this.inner.append(topic, partition, messages.flat());
        return offsets && messageOffsets(messages, offsets);
      } catch (error) {
        if (!isRecordRejectedError(error)) throw error;
        throw new RecordRejectedError(error.message, messageOffsets(messages, error.offsets));
      }
    });
  }
}

/** The offset of each message of which all chunks have one: that of its last chunk. */
function messageOffsets(messages: readonly (readonly BusRecord[])[], offsets: readonly number[]): readonly number[] {
  let chunks = 0;
  return messages.flatMap(({ length }) => {
    chunks += length;
    const offset = offsets[chunks - 1];
    return offset === undefined ? [] : [offset];
  });
}
