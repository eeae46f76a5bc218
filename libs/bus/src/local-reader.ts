import {
  type AppendedOffsets,
  BusClosedError,
  type BusRecord,
  type Delivery,
  type PartitionReader,
  RecordNotStoredError,
  type StreamOffset,
} from './bus.ts';
import { DeliveryByReference } from './records.ts';

interface LocalReaderOptions {
  /** Reads the log. */
  readonly open: (after: StreamOffset) => PartitionReader;
  readonly after: StreamOffset;
  /** Whether records come from this process from the beginning, so that the log is not opened. */
  readonly isLocal: boolean;
  /** Called when records of the log are about to be returned. */
  readonly onRead: () => void;
  readonly onClose: () => void;
}

/**
 * Reads a partition from its log, or gets the records from this process while it is the only producer. A record is then
 * delivered while the log stores it, with the offset that it must get. If it gets another one, the reader fails.
 */
export class LocalReader implements PartitionReader {
  readonly #options: LocalReaderOptions;
  /** Undefined while records come from this process. */
  #log: PartitionReader | undefined;
  /** Deletes records that are released. Undefined if the log was never opened: a later reader deletes them. */
  #releaser: PartitionReader | undefined;
  #isLocal: boolean;
  #last: StreamOffset;
  #ready: Delivery[] = [];
  readonly #placing = new Set<Promise<void>>();
  #error: unknown;
  #closed = false;
  #wake: (() => void) | undefined;

  constructor(options: LocalReaderOptions) {
    this.#options = options;
    this.#last = options.after;
    this.#isLocal = options.isLocal;
    if (!options.isLocal) this.#log = this.#releaser = options.open(options.after);
  }

  /** Whether records come from this process. */
  get isLocal(): boolean {
    return this.#isLocal;
  }

  /** Offset of the last record delivered. */
  get offset(): number {
    return this.#last.offset;
  }

  get streamId(): string {
    return this.#last.streamId;
  }

  async next(max: number): Promise<readonly Delivery[]> {
    for (;;) {
      if (this.#closed) return [];
      if (this.#ready.length > 0) return this.#ready.splice(0, max);
      if (this.#error !== undefined) throw this.#error;
      const log = this.#log;
      if (log === undefined) await this.#woken();
      else {
        const records = await log.next(max);
        // What came after the change to local records is read again when records come from the log again.
        if (log !== this.#log) continue;
        const last = records.at(-1);
        if (last === undefined) return [];
        this.#last = { offset: last.offset, id: last.id, streamId: log.streamId };
        this.#options.onRead();
        return records;
      }
    }
  }

  release(offset: number): void {
    this.#releaser?.release(offset);
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#isLocal = false;
    this.#log?.close();
    this.#options.onClose();
    this.#notify();
  }

  /** From now on `deliver` is called with all records. */
  startLocal(): void {
    this.#isLocal = true;
    const log = this.#log;
    this.#log = undefined;
    log?.close();
  }

  /** From now on records come from the log. */
  async stopLocal(): Promise<void> {
    if (!this.#isLocal) return;
    this.#isLocal = false;
    // The log is continued after them.
    await Promise.all(this.#placing);
    if (this.#closed || this.#isLocal || this.#error !== undefined) return;
    this.#log = this.#releaser = this.#options.open(this.#last);
    this.#notify();
  }

  /** Delivers records that are being stored. */
  deliver(records: readonly BusRecord[], storing: Promise<AppendedOffsets>): Promise<AppendedOffsets> {
    const placed = this.#place(records, storing).finally(() => this.#placing.delete(placed));
    this.#placing.add(placed);
    // The producer gets the offsets that the records have, whether or not the reader continues.
    return placed.then(() => storing);
  }

  /** Never rejects: the reader fails instead. */
  async #place(records: readonly BusRecord[], storing: Promise<AppendedOffsets>): Promise<void> {
    const first = this.#last.offset + 1;
    const stored = storing.then(
      (offsets) => checkOffsets(records, offsets, first),
      (error: unknown) => {
        throw error instanceof BusClosedError ? error : new RecordNotStoredError('the append failed', { cause: error });
      },
    );
    try {
      this.#add(records, first, stored);
      await stored;
    } catch (error) {
      if (error instanceof BusClosedError) this.close();
      else this.#fail(error);
    }
  }

  #add(records: readonly BusRecord[], first: number, stored: Promise<unknown>): void {
    for (const [index, record] of records.entries()) {
      const offset = first + index;
      this.#ready.push(new DeliveryByReference(record, { offset, stored }));
      this.#last = { ...this.#last, offset, id: record.id };
    }
    this.#notify();
  }

  #fail(error: unknown): void {
    this.#error ??= error;
    this.#isLocal = false;
    this.#ready = [];
    this.#notify();
  }

  #woken(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  #notify(): void {
    this.#wake?.();
    this.#wake = undefined;
  }
}

/** @throws RecordNotStoredError unless the offsets follow from `first` without gaps */
function checkOffsets(records: readonly BusRecord[], offsets: AppendedOffsets, first: number): void {
  if (offsets === undefined) throw new RecordNotStoredError('the bus does not know the offset of a record');
  for (const [index, { id }] of records.entries()) {
    const [offset, expected] = [offsets[index], first + index];
    if (offset !== expected) throw new RecordNotStoredError(`record ${id} has offset ${offset} instead of ${expected}`);
  }
}
