import { type BusRecord, type Cursor, type Delivery, LogLostError, type Topic } from './bus.ts';
import { LogBus } from './log-bus.ts';
import { PartitionLog } from './partition-log.ts';

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
   * payloads are handed on, as every other bus does.
   */
  readonly byReference?: boolean;
}

const defaultMaxBacklog = 10_000;

/**
 * The bus inside one process. It holds what was not released yet. Records are not copied: who appends a payload must not
 * change it afterwards.
 */
export class MemoryBus extends LogBus<MemoryLog> {
  readonly #maxBacklog: number;

  constructor({ partitions, maxBacklog = defaultMaxBacklog, byReference = false }: MemoryBusOptions) {
    super(partitions, () => new MemoryLog(byReference));
    this.#maxBacklog = maxBacklog;
  }

  async append(topic: Topic, partition: number, records: readonly BusRecord[]): Promise<void> {
    const log = this.openLog(topic, partition);
    log.append(records);
    if (topic === 'changes') await log.backlogAtMost(this.#maxBacklog);
    else if (topic === 'requests') log.keep(this.#maxBacklog);
  }
}

/** Released records are dropped in steps of this many, since dropping from the front costs as much as what stays. */
const dropStep = 128;

class MemoryLog extends PartitionLog {
  /** The log lives and dies with the process, and so do the cursors in the in-process store. */
  readonly incarnation = 'memory';
  readonly #byReference: boolean;
  #records: Delivery[] = [];
  /** Position of the last record appended, and its id. */
  #last = 0;
  #lastId = '';
  #released = 0;
  #waiting: { readonly limit: number; readonly resolve: () => void }[] = [];

  constructor(byReference: boolean) {
    super();
    this.#byReference = byReference;
  }

  append(records: readonly BusRecord[]): void {
    for (const record of records) this.#records.push(this.#deliver(record, ++this.#last));
    this.#lastId = records.at(-1)?.id ?? this.#lastId;
    this.changed();
  }

  #deliver(record: BusRecord, position: number): Delivery {
    if (this.#byReference && record.message !== undefined) return new DeliveryByReference(record, position);
    const { key, id, headers, payload } = record;
    return { key, id, headers, payload, position };
  }

  end(): Cursor {
    return { position: this.#last, id: this.#lastId, log: this.incarnation };
  }

  oldest(): Cursor {
    return { position: (this.#records[0]?.position ?? this.#last + 1) - 1, id: '', log: this.incarnation };
  }

  keep(count: number): void {
    this.release(this.#last - count);
  }

  after({ position }: Cursor, max: number): readonly Delivery[] {
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

  override close(): void {
    super.close();
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
