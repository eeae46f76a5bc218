import {
  type BusRecord,
  type Delivery,
  LogBus,
  LogTruncatedError,
  PartitionLog,
  type StreamOffset,
  type Topic,
} from '@sluice/bus';

/** A bus whose logs can lose records or be recreated, as on servers. */
export class LossyBus extends LogBus<LossyLog> {
  readonly #dropsRepeated: boolean;

  /** `dropsRepeated`: ignores records whose id is already in the log, as JetStream does. */
  constructor(partitions: number, dropsRepeated: boolean) {
    super(partitions, () => new LossyLog());
    this.#dropsRepeated = dropsRepeated;
  }

  async append(topic: Topic, partition: number, records: readonly BusRecord[]): Promise<void> {
    this.openLog(topic, partition).append(records, this.#dropsRepeated);
  }
}

/** One partition of a topic. */
export class LossyLog extends PartitionLog {
  /** Last offset delivered to any reader. */
  read = 0;
  #generation = 1;
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
    return `log-${this.#generation}`;
  }

  beginning(): StreamOffset {
    return { offset: (this.#records[0]?.offset ?? this.#last + 1) - 1, id: '', streamId: this.streamId };
  }

  end(): StreamOffset {
    return { offset: this.#last, id: this.#lastId, streamId: this.streamId };
  }

  /** Removes all records; offsets continue. */
  purge(): void {
    this.#records = [];
    this.changed();
  }

  /** Deletes and recreates the log. */
  recreate(): void {
    this.#generation += 1;
    this.#records = [];
    this.#ids.clear();
    this.#last = 0;
    this.#lastId = '';
    this.read = 0;
    this.changed();
  }

  /** Loses the last `count` records, as after a power failure; later records reuse their offsets. */
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
    if (offset > this.#last) throw new LogTruncatedError(`offset ${offset} is past the end ${this.#last}`);
    if (first > offset + 1) throw new LogTruncatedError(`records after ${offset} are lost; the log begins at ${first}`);
    const here = this.#records[offset - first];
    if (here !== undefined && here.id !== id) throw new LogTruncatedError(`at ${offset} is ${here.id}, not ${id}`);
    const records = this.#records.slice(offset + 1 - first, offset + 1 - first + max);
    this.read = Math.max(this.read, records.at(-1)?.offset ?? 0);
    return records;
  }

  /** The test alone removes records. */
  release(): void {}
}
