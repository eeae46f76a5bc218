import {
  type AppendedOffsets,
  type BusRecord,
  checkRecordBytes,
  type PartitionReader,
  type StreamOffset,
} from './bus.ts';
import { EarlyReader } from './early-reader.ts';
import type { LingeringRecords } from './lingering-records.ts';

export interface LocalChangesOptions {
  readonly lingering: LingeringRecords;
  readonly append: (records: readonly BusRecord[]) => Promise<AppendedOffsets>;
  /** Appends the lingering plans of the partition. */
  readonly flushPlans: () => Promise<void>;
}

/**
 * A partition of `changes` in this process. Its reader gets records of this process early, if it has read all records before
 * them that this process has appended: otherwise a Change would overtake the one before it, and the reader would find a gap.
 */
export class LocalChanges {
  readonly #options: LocalChangesOptions;
  #reader: EarlyReader | undefined;
  /** Calls of `append` in flight. */
  #appending = 0;
  /** Offset of the last record that a reader must have read from the log before it gets others early. */
  #end = 0;
  /** Offset of the last record that was delivered early. */
  #earlyEnd = 0;

  constructor(options: LocalChangesOptions) {
    this.#options = options;
  }

  read(open: (after: StreamOffset) => PartitionReader, after: StreamOffset): PartitionReader {
    const reader: EarlyReader = new EarlyReader(open(after), after.offset, () => {
      if (this.#reader === reader) this.#reader = undefined;
      void this.flush();
    });
    this.#reader = reader;
    void this.#readFromLog();
    return reader;
  }

  async append(records: readonly BusRecord[]): Promise<AppendedOffsets> {
    this.#appending += 1;
    try {
      await this.flush();
      const offsets = await this.#options.append(records);
      // If the bus does not know it, nothing is delivered early until it knows one again.
      this.#end = offsets?.at(-1) ?? Number.POSITIVE_INFINITY;
      return offsets;
    } finally {
      this.#appending -= 1;
    }
  }

  deliver(
    records: readonly BusRecord[],
    maxBytes: number,
    assertCurrent: () => void,
  ): Promise<AppendedOffsets> | undefined {
    const reader = this.#reader;
    const { lingering } = this.#options;
    if (reader === undefined || this.#appending > 0 || reader.offset < this.#end) return undefined;
    if (!reader.hasRoom || !lingering.hasRoom) return undefined;
    checkRecordBytes(records, maxBytes);
    reader.deliver(records);
    return this.#stored(lingering.add(records, assertCurrent));
  }

  /** Appends what lingers. Where there is an Outcome in the log, there is its plan, which therefore comes first. */
  async flush(): Promise<void> {
    const plans = this.#options.flushPlans();
    await Promise.all([plans, this.#options.lingering.flush(plans)]);
  }

  async #stored(storing: Promise<AppendedOffsets>): Promise<AppendedOffsets> {
    const offsets = await storing;
    this.#earlyEnd = offsets?.at(-1) ?? Number.POSITIVE_INFINITY;
    return offsets;
  }

  /** A new reader first reads from the log what the one before it has got early. */
  async #readFromLog(): Promise<void> {
    this.#appending += 1;
    await this.flush();
    this.#end = Math.max(this.#end, this.#earlyEnd);
    this.#appending -= 1;
  }
}
