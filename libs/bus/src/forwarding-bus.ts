import type {
  AppendedOffsets,
  Bus,
  BusLimits,
  BusRecord,
  Delivery,
  PartitionReader,
  StreamOffset,
  Topic,
} from './bus.ts';

/** Passes every call to another bus. Extend it to change some of them. */
export class ForwardingBus implements Bus {
  readonly partitions: number;
  protected readonly inner: Bus;

  constructor(inner: Bus) {
    this.inner = inner;
    this.partitions = inner.partitions;
  }

  get limits(): BusLimits {
    return this.inner.limits;
  }

  get connected(): boolean {
    return this.inner.connected ?? true;
  }

  append(topic: Topic, partition: number, records: readonly BusRecord[]): Promise<AppendedOffsets> {
    return this.inner.append(topic, partition, records);
  }

  deliver(
    topic: Topic,
    partition: number,
    records: readonly BusRecord[],
    assertCurrent?: () => void,
  ): Promise<AppendedOffsets> | undefined {
    return this.inner.deliver?.(topic, partition, records, assertCurrent);
  }

  flush(partition?: number): void {
    this.inner.flush?.(partition);
  }

  produceExclusively(topic: Topic, partition: number): () => void {
    return this.inner.produceExclusively?.(topic, partition) ?? (() => {});
  }

  read(topic: Topic, partition: number, after: StreamOffset): PartitionReader {
    return this.inner.read(topic, partition, after);
  }

  beginning(topic: Topic, partition: number): Promise<StreamOffset> {
    return this.inner.beginning(topic, partition);
  }

  end(topic: Topic, partition: number): Promise<StreamOffset> {
    return this.inner.end(topic, partition);
  }

  close(): Promise<void> {
    return this.inner.close();
  }
}

/** A bus whose readers return a batch once `onRead` has resolved for it. */
export class ObservedBus extends ForwardingBus {
  readonly #onRead: (deliveries: readonly Delivery[]) => Promise<void>;

  constructor(inner: Bus, onRead: (deliveries: readonly Delivery[]) => Promise<void>) {
    super(inner);
    this.#onRead = onRead;
  }

  override read(topic: Topic, partition: number, after: StreamOffset): PartitionReader {
    const reader = this.inner.read(topic, partition, after);
    return {
      next: async (max) => {
        const deliveries = await reader.next(max);
        await this.#onRead(deliveries);
        return deliveries;
      },
      get streamId() {
        return reader.streamId;
      },
      release: (offset) => reader.release(offset),
      close: () => reader.close(),
    };
  }
}
