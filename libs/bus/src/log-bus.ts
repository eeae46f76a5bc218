import {
  type AppendedOffsets,
  type Bus,
  BusClosedError,
  type BusLimits,
  type BusRecord,
  noBusLimits,
  type PartitionReader,
  type StreamOffset,
  type Topic,
} from './bus.ts';
import type { PartitionLog } from './partition-log.ts';

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
