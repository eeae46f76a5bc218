import {
  type Bus,
  BusClosedError,
  type BusRecord,
  type Cursor,
  type Delivery,
  LogLostError,
  type PartitionReader,
  type Topic,
} from '@sluice/bus';

/** A bus as servers keep it: its logs can lose records, or be another log all of a sudden. */
export class LosableBus implements Bus {
  readonly partitions: number;
  readonly #dropsRepeated: boolean;
  readonly #logs = new Map<string, Log>();
  #closed = false;

  /** `dropsRepeated`: a record whose id is in the log already is not appended again, as JetStream has it. */
  constructor(partitions: number, dropsRepeated: boolean) {
    this.partitions = partitions;
    this.#dropsRepeated = dropsRepeated;
  }

  async append(topic: Topic, partition: number, records: readonly BusRecord[]): Promise<void> {
    if (this.#closed) throw new BusClosedError('the bus is closed');
    this.log(topic, partition).append(records, this.#dropsRepeated);
  }

  read(topic: Topic, partition: number, after: Cursor): PartitionReader {
    return new LosableReader(this.log(topic, partition), after);
  }

  async oldest(topic: Topic, partition: number): Promise<Cursor> {
    if (this.#closed) throw new BusClosedError('the bus is closed');
    return this.log(topic, partition).oldest();
  }

  async end(topic: Topic, partition: number): Promise<Cursor> {
    if (this.#closed) throw new BusClosedError('the bus is closed');
    return this.log(topic, partition).end();
  }

  async close(): Promise<void> {
    this.#closed = true;
  }

  log(topic: Topic, partition: number): Log {
    const name = `${topic}/${partition}`;
    let log = this.#logs.get(name);
    if (log === undefined) {
      log = new Log();
      this.#logs.set(name, log);
    }
    return log;
  }
}

/** One partition of a topic. */
export class Log {
  /** Woken, all of them, by whatever happens to the log. */
  readonly waiting = new Set<() => void>();
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
    this.#wake();
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
    this.#wake();
  }

  /** Deleted and made anew. */
  renew(): void {
    this.#incarnation += 1;
    this.#records = [];
    this.#ids.clear();
    this.#last = 0;
    this.#lastId = '';
    this.read = 0;
    this.#wake();
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
    this.#wake();
  }

  /** What comes after a cursor. Throws LogLostError if it does not follow. */
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

  #wake(): void {
    for (const wake of this.waiting) wake();
  }
}

class LosableReader implements PartitionReader {
  readonly log: string;
  readonly #log: Log;
  #cursor: Cursor;
  #closed = false;
  #wake: (() => void) | undefined;

  constructor(log: Log, after: Cursor) {
    this.#log = log;
    this.log = log.incarnation;
    this.#cursor = { ...after, log: after.log === '' ? this.log : after.log };
  }

  async next(max: number): Promise<readonly Delivery[]> {
    for (;;) {
      if (this.#closed) return [];
      const records = this.#log.after(this.#cursor, max);
      const last = records.at(-1);
      if (last !== undefined) {
        this.#cursor = { position: last.position, id: last.id, log: this.log };
        return records;
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        this.#log.waiting.add(resolve);
      });
      if (this.#wake !== undefined) this.#log.waiting.delete(this.#wake);
    }
  }

  release(): void {}

  close(): void {
    this.#closed = true;
    this.#wake?.();
  }
}
