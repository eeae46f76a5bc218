import type { AppendedOffsets, BusRecord, PartitionReader, StreamOffset } from './bus.ts';
import { EarlyReader } from './early-reader.ts';
import type { LingeringRecords } from './lingering-records.ts';
import { oversizedPayload } from './records.ts';

interface LocalChangesOptions {
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
  readonly #appended = new AppendedEnd();
  /** Offset of the last record that was delivered early. */
  #earlyEnd = 0;
  /** Identity of the log of the last reader that knew it. */
  #streamId = '';

  constructor(options: LocalChangesOptions) {
    this.#options = options;
  }

  read(open: (after: StreamOffset) => PartitionReader, after: StreamOffset): PartitionReader {
    const reader: EarlyReader = new EarlyReader(open(after), after.offset, () => {
      if (this.#reader === reader) this.#reader = undefined;
      if (reader.streamId !== '') this.#streamId = reader.streamId;
      void this.flush();
    });
    this.#reader = reader;
    const isRecreated = this.#streamId !== '' && after.streamId !== '' && after.streamId !== this.#streamId;
    if (isRecreated) {
      this.#appended.forget();
      this.#earlyEnd = 0;
    }
    void this.#readFromLog();
    return reader;
  }

  append(records: readonly BusRecord[]): Promise<AppendedOffsets> {
    return this.#appended.during(async () => {
      await this.flush();
      return this.#options.append(records);
    });
  }

  deliver(
    records: readonly BusRecord[],
    maxBytes: number,
    assertCurrent: () => void,
  ): Promise<AppendedOffsets> | undefined {
    const reader = this.#reader;
    const { lingering } = this.#options;
    if (reader === undefined || !this.#appended.isReached(reader.offset)) return undefined;
    if (!reader.hasRoom || !lingering.hasRoom) return undefined;
    if (records.some((record) => oversizedPayload(maxBytes)(record) !== undefined)) return undefined;
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
    await this.#appended.during(async () => {
      await this.flush();
      this.#appended.raise(this.#earlyEnd);
      return [];
    });
  }
}

/**
 * Where the records end that this process has appended to a log. Answers of appends that overlap arrive in any order, and a
 * repetition has the offset of its first occurrence, so the last answer need not have the highest offset.
 */
class AppendedEnd {
  #inFlight = 0;
  /** Highest offset of the appends that overlap; infinite if the bus does not know one. */
  #highest = 0;
  /** Infinite: unknown until an append is answered that began later. */
  #offset = 0;

  /** Whether a reader that has returned the record at this offset has returned all that was appended. */
  isReached(offset: number): boolean {
    return this.#inFlight === 0 && offset >= this.#offset;
  }

  /** Call with each append. Without a record, nothing was appended. */
  async during(append: () => Promise<AppendedOffsets>): Promise<AppendedOffsets> {
    this.#inFlight += 1;
    try {
      const offsets = await append();
      const last = offsets === undefined ? Number.POSITIVE_INFINITY : (offsets.at(-1) ?? 0);
      this.#highest = Math.max(this.#highest, last);
      return offsets;
    } finally {
      this.#inFlight -= 1;
      if (this.#inFlight === 0) this.#settle();
    }
  }

  /** A reader must have returned the record at this offset too; infinite if the bus does not know it. */
  raise(offset: number): void {
    this.#offset = Math.max(this.#offset, offset);
  }

  /** The log was recreated: its offsets restart, and some of its records may be of this process. */
  forget(): void {
    this.#offset = Number.POSITIVE_INFINITY;
  }

  #settle(): void {
    const highest = this.#highest;
    this.#highest = 0;
    if (highest === 0) return;
    this.#offset = Math.max(highest, Number.isFinite(this.#offset) ? this.#offset : 0);
  }
}
