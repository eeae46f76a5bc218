import type { AppendedOffsets, BusRecord, PartitionReader, StreamOffset } from './bus.ts';
import type { LingeringRecords } from './lingering-records.ts';
import { LocalReader } from './local-reader.ts';

interface LocalPlansOptions {
  readonly lingering: LingeringRecords;
  readonly append: (records: readonly BusRecord[]) => Promise<AppendedOffsets>;
}

/** An end of the log: `id` and `streamId` are unknown if the only producer has appended the last record. */
type End = Pick<StreamOffset, 'offset'> & Partial<StreamOffset>;

/** A partition of `mutations` that this process produces, reads, or both. */
export class LocalPlans {
  readonly #options: LocalPlansOptions;
  #producers = 0;
  /** The last one that was declared, until one has stopped. */
  #producer: symbol | undefined;
  /** Appends in flight. A reader that is opened meanwhile gets their records from the log. */
  #appending = 0;
  /** Appends and deliveries whose records the log may not have yet. */
  #placing = 0;
  /** Where the log ends, as far as the only producer knows. */
  #end: End | undefined;
  #reader: LocalReader | undefined;
  /** Resolves when all records so far are stored or have failed; never rejects. */
  #appended: Promise<unknown> = Promise.resolve();

  constructor(options: LocalPlansOptions) {
    this.#options = options;
  }

  produce(): () => void {
    this.#producers += 1;
    this.#producer = Symbol('producer');
    let stopped = false;
    return () => {
      if (stopped) return;
      stopped = true;
      this.#producers -= 1;
      this.#producer = undefined;
      this.#end = undefined;
      this.#stopLocal();
    };
  }

  /** Where the log ends. Remembered if this process has been the only producer all the time. */
  async end(read: () => Promise<StreamOffset>): Promise<StreamOffset> {
    const producer = this.#producer;
    const end = await read();
    const isOnly = producer !== undefined && producer === this.#producer && this.#producers === 1;
    if (isOnly && this.#placing === 0 && end.offset >= (this.#end?.offset ?? 0)) this.#end = end;
    return end;
  }

  read(open: (after: StreamOffset) => PartitionReader, after: StreamOffset): PartitionReader {
    this.#stopLocal();
    const reader: LocalReader = new LocalReader({
      open,
      after,
      isLocal: this.#isEnd(after),
      onRead: () => this.#maybeStartLocal(),
      onClose: () => {
        if (this.#reader === reader) this.#reader = undefined;
        void this.flush();
      },
    });
    this.#reader = reader;
    return reader;
  }

  append(records: readonly BusRecord[], maxBytes: number): Promise<AppendedOffsets> {
    const store = async () => {
      await this.#options.lingering.flush();
      return this.#options.append(records);
    };
    // Only the offsets of records that are not split are known in advance. Others are read from the log.
    if (!records.every(isWhole(maxBytes))) this.#stopLocal();
    const appended = this.#placed(records, store);
    this.#appended = Promise.allSettled([this.#appended, appended]);
    return appended;
  }

  /** Larger records must be appended. */
  deliver(
    records: readonly BusRecord[],
    maxBytes: number,
    assertCurrent: () => void,
  ): Promise<AppendedOffsets> | undefined {
    const { lingering } = this.#options;
    if (this.#reader?.isLocal !== true || this.#appending > 0 || !lingering.hasRoom) return undefined;
    if (!records.every(isWhole(maxBytes))) return undefined;
    const delivered = this.#placed(records, () => lingering.add(records, assertCurrent), 0);
    this.#appended = Promise.allSettled([this.#appended, delivered]);
    return delivered;
  }

  /** Appends what lingers. Resolves when nothing is in flight; never rejects. */
  async flush(): Promise<void> {
    await Promise.all([this.#options.lingering.flush(), this.#appended]);
  }

  async #placed(
    records: readonly BusRecord[],
    store: () => Promise<AppendedOffsets>,
    appending = 1,
  ): Promise<AppendedOffsets> {
    const reader = this.#reader;
    this.#appending += appending;
    this.#placing += 1;
    try {
      const offsets = await (reader?.isLocal ? reader.deliver(records, store()) : store());
      const last = offsets?.at(-1);
      if (this.#producers > 0) this.#end = last === undefined ? undefined : { offset: last };
      return offsets;
    } finally {
      this.#appending -= appending;
      this.#placing -= 1;
      this.#maybeStartLocal();
    }
  }

  #stopLocal(): void {
    void this.flush();
    void this.#reader?.stopLocal();
  }

  /** Once the reader has read back the last record of the only producer, there is nothing more to come from the log. */
  #maybeStartLocal(): void {
    const reader = this.#reader;
    if (reader === undefined || this.#producers !== 1 || this.#appending > 0 || this.#end === undefined) return;
    if (!reader.isLocal && reader.offset >= this.#end.offset) reader.startLocal();
  }

  /**
   * Whether a reader after this position has nothing to read from the log. Offset and id must both match: the last records of a log
   * may be lost and replaced.
   */
  #isEnd({ offset, id, streamId }: StreamOffset): boolean {
    const end = this.#end;
    if (this.#producers !== 1 || this.#placing > 0 || end === undefined) return false;
    return offset === end.offset && id === end.id && streamId === end.streamId;
  }
}

const isWhole =
  (maxBytes: number) =>
  ({ payload }: BusRecord): boolean =>
    payload.length <= maxBytes;
