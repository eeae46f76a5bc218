import {
  type AppendedOffsets,
  type Bus,
  BusClosedError,
  type BusLimits,
  type BusRecord,
  MemoryBus,
  noBusLimits,
  type PartitionReader,
  type StreamOffset,
  type Topic,
} from '@sluice/bus';
import { type Change, decodeMessage } from '@sluice/messages';

/** A bus whose appends take as long as the test wants, and fail when it wants. */
export class GatedBus implements Bus {
  readonly partitions: number;
  limits: BusLimits = noBusLimits;
  /** Ids of the records of each try, in order. */
  readonly tries: string[][] = [];
  readonly changes: Change[] = [];
  /** What the watcher reads. */
  readonly requests: MemoryBus;
  /** While set, appends wait. */
  shut = false;
  /** Whether records are delivered within the process. `flush` stores them. */
  delivers = false;
  readonly delivered: Change[] = [];
  #stored = Promise.withResolvers<AppendedOffsets>();
  /** How many of the next appends fail. */
  failures = 0;
  #closed = false;
  #waiting: (() => void)[] = [];

  constructor(partitions = 1) {
    this.partitions = partitions;
    this.requests = new MemoryBus({ partitions });
  }

  open(): void {
    this.shut = false;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  async append(topic: Topic, _partition: number, records: readonly BusRecord[]): Promise<AppendedOffsets> {
    if (topic !== 'changes') throw new RangeError(`a watcher publishes changes, not ${topic}`);
    if (this.#closed) throw new BusClosedError('closed');
    this.tries.push(records.map(({ id }) => id));
    if (this.shut) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    if (this.failures > 0) {
      this.failures--;
      throw new Error('the bus is away');
    }
    for (const { payload } of records) this.changes.push(decodeMessage(payload) as Change);
    return undefined;
  }

  deliver(topic: Topic, _partition: number, records: readonly BusRecord[]): Promise<AppendedOffsets> | undefined {
    if (topic !== 'changes') throw new RangeError(`a watcher publishes changes, not ${topic}`);
    if (!this.delivers) return undefined;
    for (const { payload } of records) this.delivered.push(decodeMessage(payload) as Change);
    return this.#stored.promise;
  }

  flush(): void {
    this.#stored.resolve(undefined);
    this.#stored = Promise.withResolvers();
  }

  beginning(topic: Topic, partition: number): Promise<StreamOffset> {
    return this.requests.beginning(topic, partition);
  }

  end(topic: Topic, partition: number): Promise<StreamOffset> {
    return this.requests.end(topic, partition);
  }

  read(topic: Topic, partition: number, after: StreamOffset): PartitionReader {
    return this.requests.read(topic, partition, after);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.open();
  }
}
