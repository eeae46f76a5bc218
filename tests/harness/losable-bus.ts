import {
  type BusRecord,
  type Delivery,
  LogBus,
  LogTruncatedError,
  PartitionLog,
  type StreamOffset,
  type Topic,
} from '@sluice/bus';

/** A bus as servers keep it: its logs can lose records, or be another log all of a sudden. */
export class LosableBus extends LogBus<LosableLog> {
  readonly #dropsRepeated: boolean;

  /** `dropsRepeated`: a record whose id is in the log already is not appended again, as JetStream has it. */
  constructor(partitions: number, dropsRepeated: boolean) {
    super(partitions, () => new LosableLog());
    this.#dropsRepeated = dropsRepeated;
  }

  async append(topic: Topic, partition: number, records: readonly BusRecord[]): Promise<void> {
    this.openLog(topic, partition).append(records, this.#dropsRepeated);
  }
}

/** One partition of a topic. */
export class LosableLog extends PartitionLog {
  /** Furthest offset that some reader was given. */
  read = 0;
  #incarnation = 1;
  #records: Delivery[] = [];
  readonly #ids = new Set<string>();
  #last = 0;
  #lastId = '';

  append(records: readonly BusRecord[], dropsRepeated: boolean): void {
    for (const { key, id, headers, payload } of records) {
      if (dropsRepeated && this.#ids.has(id)) continue;
      this.#ids.add(id);
      this.#last += 1;
      this.#lastId = id;
      this.#records.push({ key, id, headers, payload, offset: this.#last });
    }
    this.changed();
  }

  get streamId(): string {
    return `log-${this.#incarnation}`;
  }

  beginning(): StreamOffset {
    return { offset: (this.#records[0]?.offset ?? this.#last + 1) - 1, id: '', streamId: this.streamId };
  }

  end(): StreamOffset {
    return { offset: this.#last, id: this.#lastId, streamId: this.streamId };
  }

  /** Everything up to now is gone; offsets go on. */
  purge(): void {
    this.#records = [];
    this.changed();
  }

  /** Deleted and made anew. */
  renew(): void {
    this.#incarnation += 1;
    this.#records = [];
    this.#ids.clear();
    this.#last = 0;
    this.#lastId = '';
    this.read = 0;
    this.changed();
  }

  /** Its last `count` records are gone, as after a power failure; what comes next takes their places. */
  loseLast(count: number): void {
    const lost = Math.min(count, this.#records.length);
    if (lost === 0) return;
    for (const { id } of this.#records.slice(-lost)) this.#ids.delete(id);
    this.#records = this.#records.slice(0, -lost);
    this.#last -= lost;
    this.#lastId = this.#records.at(-1)?.id ?? '';
    this.read = Math.min(this.read, this.#last);
    this.changed();
  }

  after({ offset, id, streamId }: StreamOffset, max: number): readonly Delivery[] {
    const first = this.#records[0]?.offset ?? this.#last + 1;
    if (streamId !== '' && streamId !== this.streamId)
      throw new LogTruncatedError(`${streamId} is now ${this.streamId}`);
    if (offset > this.#last) throw new LogTruncatedError(`offset ${offset} is past the end, ${this.#last}`);
    if (first > offset + 1) throw new LogTruncatedError(`what comes after ${offset} is gone; it begins at ${first}`);
    const here = this.#records[offset - first];
    if (here !== undefined && here.id !== id) throw new LogTruncatedError(`at ${offset} is ${here.id}, not ${id}`);
    const records = this.#records.slice(offset + 1 - first, offset + 1 - first + max);
    this.read = Math.max(this.read, records.at(-1)?.offset ?? 0);
    return records;
  }

  /** Records go by what the test does to the log. */
  release(): void {}
}
