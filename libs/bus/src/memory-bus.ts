import { type BusRecord, type Delivery, LogTruncatedError, type StreamOffset, type Topic } from './bus.ts';
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

  #deliver(record: BusRecord, offset: number): Delivery {
    if (this.#byReference && record.message !== undefined) return new DeliveryByReference(record, offset);
    const { key, id, headers, payload } = record;
    return { key, id, headers, payload, offset };
  }

  end(): StreamOffset {
    return { offset: this.#last, id: this.#lastId, streamId: this.incarnation };
  }

  oldest(): StreamOffset {
    return { offset: (this.#records[0]?.offset ?? this.#last + 1) - 1, id: '', streamId: this.incarnation };
  }

  keep(count: number): void {
    this.release(this.#last - count);
  }

  after({ offset }: StreamOffset, max: number): readonly Delivery[] {
    const first = this.#records[0];
    if (offset > this.#last) throw new LogTruncatedError(`offset ${offset} is past the end, ${this.#last}`);
    if ((first?.offset ?? this.#last + 1) > offset + 1) {
      throw new LogTruncatedError(`what comes after offset ${offset} is gone; the log begins at ${first?.offset}`);
    }
    if (first === undefined || offset === this.#last) return [];
    const start = Math.max(0, offset + 1 - first.offset);
    return this.#records.slice(start, start + max);
  }

  release(offset: number): void {
    if (offset <= this.#released) return;
    this.#released = Math.min(offset, this.#last);
    const surplus = this.#released + 1 - (this.#records[0]?.offset ?? this.#released + 1);
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
  readonly offset: number;
  readonly #record: BusRecord;

  constructor(record: BusRecord, offset: number) {
    this.key = record.key;
    this.id = record.id;
    this.headers = record.headers;
    this.message = record.message;
    this.offset = offset;
    this.#record = record;
  }

  get payload(): Uint8Array {
    return this.#record.payload;
  }
}
