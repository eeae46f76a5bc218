import type { Clock } from '@sluice/runtime';
import type { Delivery, PartitionReader } from './bus.ts';
import { chunkOf } from './chunk.ts';
import type { ChunkAssembler } from './chunk-assembler.ts';

/**
 * Joins the chunks that another reader delivers. Records that follow a message's first chunk wait until the message is
 * complete, so a stored offset is never in the middle of a message. They wait only briefly: a sender may have died.
 */
export class ChunkedReader implements PartitionReader {
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
