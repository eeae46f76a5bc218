import {
  type BusRecord,
  type Cursor,
  type Delivery,
  LogBus,
  LogLostError,
  PartitionLog,
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
  /** Furthest position that some reader was given. */
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
      this.#records.push({ key, id, headers, payload, position: this.#last });
    }
    this.changed();
  }

  get incarnation(): string {
    return `log-${this.#incarnation}`;
  }

  oldest(): Cursor {
    return { position: (this.#records[0]?.position ?? this.#last + 1) - 1, id: '', log: this.incarnation };
  }

  end(): Cursor {
    return { position: this.#last, id: this.#lastId, log: this.incarnation };
  }

  /** Everything up to now is gone; positions go on. */
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

  after({ position, id, log }: Cursor, max: number): readonly Delivery[] {
    const first = this.#records[0]?.position ?? this.#last + 1;
    if (log !== '' && log !== this.incarnation) throw new LogLostError(`${log} is now ${this.incarnation}`);
    if (position > this.#last) throw new LogLostError(`position ${position} is past the end, ${this.#last}`);
    if (first > position + 1) throw new LogLostError(`what comes after ${position} is gone; it begins at ${first}`);
    const here = this.#records[position - first];
    if (here !== undefined && here.id !== id) throw new LogLostError(`at ${position} is ${here.id}, not ${id}`);
    const records = this.#records.slice(position + 1 - first, position + 1 - first + max);
    this.read = Math.max(this.read, records.at(-1)?.position ?? 0);
    return records;
  }

  /** Records go by what the test does to the log. */
  release(): void {}
}
