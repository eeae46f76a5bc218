import {
  type AppendedOffsets,
  type Bus,
  BusClosedError,
  type BusLimits,
  type BusRecord,
  type Delivery,
  noBusLimits,
  type PartitionReader,
  type StreamOffset,
  type Topic,
} from './bus.ts';

/** A bus with in-process logs, each created on first use. */
export abstract class LogBus<Log extends PartitionLog> implements Bus {
  readonly partitions: number;
  readonly limits: BusLimits;
  readonly #createLog: () => Log;
  readonly #logs = new Map<string, Log>();
  #closed = false;

  constructor(partitions: number, createLog: () => Log, limits: BusLimits = noBusLimits) {
    this.partitions = partitions;
    this.limits = limits;
    this.#createLog = createLog;
  }

  abstract append(topic: Topic, partition: number, records: readonly BusRecord[]): Promise<AppendedOffsets>;

  read(topic: Topic, partition: number, after: StreamOffset): PartitionReader {
    const reader = this.log(topic, partition).reader(after);
    if (this.#closed) reader.close();
    return reader;
  }

  async beginning(topic: Topic, partition: number): Promise<StreamOffset> {
    return this.openLog(topic, partition).beginning();
  }

  async end(topic: Topic, partition: number): Promise<StreamOffset> {
    return this.openLog(topic, partition).end();
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const log of this.#logs.values()) log.close();
  }

  /** @throws BusClosedError */
  protected openLog(topic: Topic, partition: number): Log {
    if (this.#closed) throw new BusClosedError('the bus is closed');
    return this.log(topic, partition);
  }

  /** @throws RangeError if the partition does not exist */
  log(topic: Topic, partition: number): Log {
    if (!Number.isInteger(partition) || partition < 0 || partition >= this.partitions) {
      throw new RangeError(
        `no partition ${partition} in topic ${topic}: it has ${this.partitions} partitions, numbered from 0`,
      );
    }
    const name = `${topic}/${partition}`;
    let log = this.#logs.get(name);
    if (log === undefined) {
      log = this.#createLog();
      this.#logs.set(name, log);
    }
    return log;
  }
}

/** One partition of a topic, with its readers. */
export abstract class PartitionLog {
  readonly #readers = new Set<LogReader>();

  /** Changes when the log is recreated. */
  abstract get streamId(): string;
  /** The position just before the oldest retained record. */
  abstract beginning(): StreamOffset;
  /** The position just after the last record. */
  abstract end(): StreamOffset;
  /** Returns up to `max` records after `offset`. Throws LogTruncatedError if the log does not continue from there. */
  abstract after(offset: StreamOffset, max: number): readonly Delivery[];
  /** Allows the log to delete records up to `offset`. */
  abstract release(offset: number): void;

  reader(after: StreamOffset): PartitionReader {
    const reader: LogReader = new LogReader(this, after, () => this.#readers.delete(reader));
    this.#readers.add(reader);
    return reader;
  }

  /** Closes all readers. */
  close(): void {
    for (const reader of [...this.#readers]) reader.close();
  }

  /** Wakes waiting readers to check the log again. */
  protected changed(): void {
    for (const reader of this.#readers) reader.wake();
  }
}

class LogReader implements PartitionReader {
  readonly streamId: string;
  readonly #log: PartitionLog;
  readonly #onClose: () => void;
  #offset: StreamOffset;
  #closed = false;
  #wake: (() => void) | undefined;

  constructor(log: PartitionLog, after: StreamOffset, onClose: () => void) {
    this.#log = log;
    this.streamId = log.streamId;
    this.#offset = { ...after, streamId: after.streamId === '' ? this.streamId : after.streamId };
    this.#onClose = onClose;
  }

  async next(max: number): Promise<readonly Delivery[]> {
    for (;;) {
      if (this.#closed) return [];
      const records = this.#log.after(this.#offset, max);
      const last = records.at(-1);
      if (last !== undefined) {
        this.#offset = { offset: last.offset, id: last.id, streamId: this.streamId };
        return records;
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  release(offset: number): void {
    this.#log.release(offset);
  }

  wake(): void {
    this.#wake?.();
    this.#wake = undefined;
  }

  close(): void {
    this.#closed = true;
    this.#onClose();
    this.wake();
  }
}
