import {
  type Bus,
  BusClosedError,
  type BusRecord,
  type Cursor,
  type Delivery,
  LogLostError,
  type PartitionReader,
  type Topic,
} from './bus.ts';

export interface MemoryBusOptions {
  readonly partitions: number;
  /**
   * How many records of a partition of `changes` may be waiting for their release before `append` waits. `mutations`
   * never waits: its backlog is bounded by one plan per Service and controller, and waiting there could close a circle.
   * Nobody releases `requests`; as many of them are kept.
   */
  readonly maxBacklog?: number;
  /**
   * Hands messages on as they were made, so that they are neither encoded nor decoded (ADR 0028). Default: only the
   * payloads are handed on, as any other bus does.
   */
  readonly byReference?: boolean;
}

const defaultMaxBacklog = 10_000;

/** The log lives and dies with the process, and so do the cursors in the in-process store. */
const incarnation = 'memory';

/**
 * The bus inside one process. It holds what was not released yet. Records are not copied: who appends a payload must not
 * change it afterwards.
 */
export class MemoryBus implements Bus {
  readonly partitions: number;
  readonly #maxBacklog: number;
  readonly #byReference: boolean;
  readonly #logs = new Map<string, PartitionLog>();
  #closed = false;

  constructor({ partitions, maxBacklog = defaultMaxBacklog, byReference = false }: MemoryBusOptions) {
    this.partitions = partitions;
    this.#maxBacklog = maxBacklog;
    this.#byReference = byReference;
  }

  async append(topic: Topic, partition: number, records: readonly BusRecord[]): Promise<void> {
    if (this.#closed) throw new BusClosedError('the bus is closed');
    const log = this.#log(topic, partition);
    log.append(records);
    if (topic === 'changes') await log.backlogAtMost(this.#maxBacklog);
    else if (topic === 'requests') log.keep(this.#maxBacklog);
  }

  read(topic: Topic, partition: number, after: Cursor): PartitionReader {
    const reader = this.#log(topic, partition).reader(after);
    if (this.#closed) reader.close();
    return reader;
  }

  async oldest(topic: Topic, partition: number): Promise<Cursor> {
    if (this.#closed) throw new BusClosedError('the bus is closed');
    return this.#log(topic, partition).oldest();
  }

  async end(topic: Topic, partition: number): Promise<Cursor> {
    if (this.#closed) throw new BusClosedError('the bus is closed');
    return this.#log(topic, partition).end();
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const log of this.#logs.values()) log.close();
  }

  #log(topic: Topic, partition: number): PartitionLog {
    if (!Number.isInteger(partition) || partition < 0 || partition >= this.partitions) {
      throw new RangeError(`partition ${partition} of ${topic}: there are ${this.partitions}`);
    }
    const name = `${topic}/${partition}`;
    let log = this.#logs.get(name);
    if (log === undefined) {
      log = new PartitionLog(this.#byReference);
      this.#logs.set(name, log);
    }
    return log;
  }
}

/** Released records are dropped in steps of this many, since dropping from the front costs as much as what stays. */
const dropStep = 128;

class PartitionLog {
  readonly #byReference: boolean;
  readonly #readers = new Set<MemoryReader>();
  #records: Delivery[] = [];
  /** Position of the last record appended, and its id. */
  #last = 0;
  #lastId = '';
  #released = 0;
  #waiting: { readonly limit: number; readonly resolve: () => void }[] = [];

  constructor(byReference: boolean) {
    this.#byReference = byReference;
  }

  append(records: readonly BusRecord[]): void {
    for (const record of records) this.#records.push(this.#deliver(record, ++this.#last));
    this.#lastId = records.at(-1)?.id ?? this.#lastId;
    for (const reader of this.#readers) reader.wake();
  }

  #deliver(record: BusRecord, position: number): Delivery {
    if (this.#byReference && record.message !== undefined) return new DeliveryByReference(record, position);
    const { key, id, headers, payload } = record;
    return { key, id, headers, payload, position };
  }

  reader(after: Cursor): PartitionReader {
    const reader = new MemoryReader(this, after);
    this.#readers.add(reader);
    return reader;
  }

  end(): Cursor {
    return { position: this.#last, id: this.#lastId, log: incarnation };
  }

  oldest(): Cursor {
    return { position: (this.#records[0]?.position ?? this.#last + 1) - 1, id: '', log: incarnation };
  }

  keep(count: number): void {
    this.release(this.#last - count);
  }

  /** Throws LogLostError if what comes after the position is not all there. */
  after(position: number, max: number): readonly Delivery[] {
    const first = this.#records[0];
    if (position > this.#last) throw new LogLostError(`position ${position} is past the end, ${this.#last}`);
    if ((first?.position ?? this.#last + 1) > position + 1) {
      throw new LogLostError(`what comes after position ${position} is gone; the log begins at ${first?.position}`);
    }
    if (first === undefined || position === this.#last) return [];
    const start = Math.max(0, position + 1 - first.position);
    return this.#records.slice(start, start + max);
  }

  release(position: number): void {
    if (position <= this.#released) return;
    this.#released = Math.min(position, this.#last);
    const surplus = this.#released + 1 - (this.#records[0]?.position ?? this.#released + 1);
    if (surplus === this.#records.length) this.#records = [];
    else if (surplus >= dropStep) this.#records = this.#records.slice(surplus);
    if (this.#waiting.length === 0) return;
    const backlog = this.#last - this.#released;
    const ready = this.#waiting.filter((waiter) => backlog <= waiter.limit);
    this.#waiting = this.#waiting.filter((waiter) => backlog > waiter.limit);
    for (const waiter of ready) waiter.resolve();
  }

  backlogAtMost(limit: number): Promise<void> {
    if (this.#last - this.#released <= limit) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push({ limit, resolve }));
  }

  forget(reader: MemoryReader): void {
    this.#readers.delete(reader);
  }

  close(): void {
    for (const reader of [...this.#readers]) reader.close();
    for (const waiter of this.#waiting) waiter.resolve();
    this.#waiting = [];
  }
}

/** Its payload is asked for only if somebody wants bytes. */
class DeliveryByReference implements Delivery {
  readonly key: string;
  readonly id: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly message: unknown;
  readonly position: number;
  readonly #record: BusRecord;

  constructor(record: BusRecord, position: number) {
    this.key = record.key;
    this.id = record.id;
    this.headers = record.headers;
    this.message = record.message;
    this.position = position;
    this.#record = record;
  }

  get payload(): Uint8Array {
    return this.#record.payload;
  }
}

class MemoryReader implements PartitionReader {
  readonly log = incarnation;
  readonly #log: PartitionLog;
  #position: number;
  #closed = false;
  #wake: (() => void) | undefined;

  constructor(log: PartitionLog, after: Cursor) {
    this.#log = log;
    this.#position = after.position;
  }

  async next(max: number): Promise<readonly Delivery[]> {
    for (;;) {
      if (this.#closed) return [];
      const records = this.#log.after(this.#position, max);
      const last = records.at(-1);
      if (last !== undefined) {
        this.#position = last.position;
        return records;
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  release(position: number): void {
    this.#log.release(position);
  }

  wake(): void {
    this.#wake?.();
    this.#wake = undefined;
  }

  close(): void {
    this.#closed = true;
    this.#log.forget(this);
    this.wake();
  }
}
