import type { AppendedOffsets, Bus, BusRecord, PartitionReader, StreamOffset, Topic } from '@sluice/bus';

/** A bus whose topics can be stalled for readers. Counts unread records. */
export class StallingBus implements Bus {
  readonly partitions: number;
  readonly #inner: Bus;
  readonly #stalled = new Map<Topic, PromiseWithResolvers<void>>();
  readonly #appended = new Map<Topic, number>();
  readonly #read = new Map<Topic, number>();

  constructor(inner: Bus) {
    this.#inner = inner;
    this.partitions = inner.partitions;
  }

  stall(topic: Topic): void {
    this.#stalled.set(topic, Promise.withResolvers());
  }

  resume(): void {
    for (const { resolve } of this.#stalled.values()) resolve();
    this.#stalled.clear();
  }

  /** Number of records appended but not read. */
  unread(topic: Topic): number {
    return (this.#appended.get(topic) ?? 0) - (this.#read.get(topic) ?? 0);
  }

  get limits() {
    return this.#inner.limits;
  }

  append(topic: Topic, partition: number, records: readonly BusRecord[]): Promise<AppendedOffsets> {
    this.#appended.set(topic, (this.#appended.get(topic) ?? 0) + records.length);
    return this.#inner.append(topic, partition, records);
  }

  read(topic: Topic, partition: number, after: StreamOffset): PartitionReader {
    const reader = this.#inner.read(topic, partition, after);
    return {
      streamId: reader.streamId,
      next: async (max) => {
        await this.#stalled.get(topic)?.promise;
        const records = await reader.next(max);
        await this.#stalled.get(topic)?.promise;
        this.#read.set(topic, (this.#read.get(topic) ?? 0) + records.length);
        return records;
      },
      release: (offset) => reader.release(offset),
      close: () => reader.close(),
    };
  }

  beginning(topic: Topic, partition: number): Promise<StreamOffset> {
    return this.#inner.beginning(topic, partition);
  }

  end(topic: Topic, partition: number): Promise<StreamOffset> {
    return this.#inner.end(topic, partition);
  }

  close(): Promise<void> {
    this.resume();
    return this.#inner.close();
  }
}
