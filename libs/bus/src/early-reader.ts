import type { BusRecord, Delivery, PartitionReader } from './bus.ts';
import { DeliveryByReference } from './records.ts';

/** Records returned early that the log has not returned again; beyond it, records come from the log only. */
const maxEarly = 256;

/** Reads a partition from its log, and returns records of this process before the log has them. */
export class EarlyReader implements PartitionReader {
  readonly #log: PartitionReader;
  readonly #onClose: () => void;
  #early: Delivery[] = [];
  /** IDs of the records that were or will be returned early. */
  readonly #repeated = new Set<string>();
  #ready: readonly Delivery[] = [];
  #isReading = false;
  #offset: number;
  #error: { readonly cause: unknown } | undefined;
  #closed = false;
  #wake: (() => void) | undefined;

  constructor(log: PartitionReader, after: number, onClose: () => void) {
    this.#log = log;
    this.#offset = after;
    this.#onClose = onClose;
  }

  /** Offset of the last record of the log that was returned. */
  get offset(): number {
    return this.#offset;
  }

  get streamId(): string {
    return this.#log.streamId;
  }

  /** Whether `deliver` may be called. */
  get hasRoom(): boolean {
    return this.#repeated.size < maxEarly;
  }

  deliver(records: readonly BusRecord[]): void {
    for (const record of records) {
      this.#repeated.add(record.id);
      this.#early.push(new DeliveryByReference(record, { offset: 0, isEarly: true }));
    }
    this.#notify();
  }

  async next(max: number): Promise<readonly Delivery[]> {
    for (;;) {
      if (this.#closed) return [];
      if (this.#early.length + this.#ready.length > 0) return this.#take(max);
      if (this.#error !== undefined) throw this.#error.cause;
      if (!this.#isReading) void this.#read(max);
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  release(offset: number): void {
    this.#log.release(offset);
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#log.close();
    this.#onClose();
    this.#notify();
  }

  #take(max: number): readonly Delivery[] {
    const early = this.#early.splice(0, max);
    const read = this.#ready.slice(0, max - early.length);
    this.#ready = this.#ready.slice(read.length);
    this.#offset = read.at(-1)?.offset ?? this.#offset;
    const marked = read.map((delivery) =>
      this.#repeated.delete(delivery.id) ? { ...delivery, isRepeated: true } : delivery,
    );
    return early.length === 0 ? marked : [...early, ...marked];
  }

  async #read(max: number): Promise<void> {
    this.#isReading = true;
    try {
      this.#ready = await this.#log.next(max);
      if (this.#ready.length === 0) this.close();
    } catch (error) {
      this.#error = { cause: error };
    } finally {
      this.#isReading = false;
      this.#notify();
    }
  }

  #notify(): void {
    this.#wake?.();
    this.#wake = undefined;
  }
}
