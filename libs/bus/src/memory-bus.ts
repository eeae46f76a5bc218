import {
  type AppendedOffsets,
  type BusLimits,
  type BusRecord,
  type Delivery,
  LogTruncatedError,
  type StreamOffset,
  type Topic,
} from './bus.ts';
import { LogBus, PartitionLog } from './log-bus.ts';
import { appendAcceptable, DeliveryByReference, oversizedPayload } from './records.ts';

interface MemoryBusOptions {
  readonly partitions: number;
  /**
   * Number of unreleased records per partition of `changes` above which `append` waits (default 10,000). `mutations` never
   * waits: at most one plan per Service and controller is in flight, and waiting could deadlock. `requests` are never
   * released, so this many of them are retained.
   */
  readonly maxBacklog?: number;
  /**
   * Delivers messages by reference, without encoding and decoding them (ADR 0028). Default false: delivers payloads only,
   * as networked buses do.
   */
  readonly byReference?: boolean;
  /** Sizes to accept, as a networked bus has them. Default: no limits. */
  readonly limits?: BusLimits;
}

const defaultMaxBacklog = 10_000;

/** In-process bus that retains unreleased records. Records are not copied, so their payloads must not change after `append`. */
export class MemoryBus extends LogBus<MemoryLog> {
  readonly #maxBacklog: number;

  constructor({ partitions, maxBacklog = defaultMaxBacklog, byReference = false, limits }: MemoryBusOptions) {
    super(partitions, () => new MemoryLog(byReference), limits);
    this.#maxBacklog = maxBacklog;
  }

  async append(topic: Topic, partition: number, records: readonly BusRecord[]): Promise<AppendedOffsets> {
    const log = this.openLog(topic, partition);
    const problemOf = oversizedPayload(this.limits.recordBytes);
    const offsets = await appendAcceptable(records, problemOf, async (accepted) => log.append(accepted));
    if (topic === 'changes') await log.backlogAtMost(this.#maxBacklog);
    else if (topic === 'requests') log.retain(this.#maxBacklog);
    return offsets;
  }
}

/** Released records are dropped in batches, because removing them copies the remaining array. */
const dropBatchSize = 128;

class MemoryLog extends PartitionLog {
  /** Constant: the log and the offsets in the in-process store have the lifetime of the process. */
  readonly streamId = 'memory';
  readonly #byReference: boolean;
  #records: Delivery[] = [];
  /** Offset and id of the last record. */
  #last = 0;
  #lastId = '';
  #released = 0;
  #waiters: { readonly limit: number; readonly resolve: () => void }[] = [];

  constructor(byReference: boolean) {
    super();
    this.#byReference = byReference;
  }

  append(records: readonly BusRecord[]): readonly number[] {
    const first = this.#last + 1;
    for (const record of records) this.#records.push(this.#deliver(record, ++this.#last));
    this.#lastId = records.at(-1)?.id ?? this.#lastId;
    this.changed();
    return records.map((_, index) => first + index);
  }

  #deliver(record: BusRecord, offset: number): Delivery {
    if (this.#byReference && record.message !== undefined) return new DeliveryByReference(record, { offset });
    const { key, id, headers, payload } = record;
    return { key, id, headers, payload, offset };
  }

  end(): StreamOffset {
    return { offset: this.#last, id: this.#lastId, streamId: this.streamId };
  }

  beginning(): StreamOffset {
    return { offset: (this.#records[0]?.offset ?? this.#last + 1) - 1, id: '', streamId: this.streamId };
  }

  retain(count: number): void {
    this.release(this.#last - count);
  }

  after({ offset }: StreamOffset, max: number): readonly Delivery[] {
    const first = this.#records[0];
    if (offset > this.#last)
      throw new LogTruncatedError(`offset ${offset} is past the end of the log at ${this.#last}`);
    if ((first?.offset ?? this.#last + 1) > offset + 1) {
      throw new LogTruncatedError(`records after offset ${offset} are gone; the log starts at ${first?.offset}`);
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
    else if (surplus >= dropBatchSize) this.#records = this.#records.slice(surplus);
    if (this.#waiters.length === 0) return;
    const backlog = this.#last - this.#released;
    const ready = this.#waiters.filter((waiter) => backlog <= waiter.limit);
    this.#waiters = this.#waiters.filter((waiter) => backlog > waiter.limit);
    for (const waiter of ready) waiter.resolve();
  }

  backlogAtMost(limit: number): Promise<void> {
    if (this.#last - this.#released <= limit) return Promise.resolve();
    return new Promise((resolve) => this.#waiters.push({ limit, resolve }));
  }

  override close(): void {
    super.close();
    for (const waiter of this.#waiters) waiter.resolve();
    this.#waiters = [];
  }
}
