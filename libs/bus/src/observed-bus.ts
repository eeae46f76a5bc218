import type { Bus, Delivery, PartitionReader, StreamOffset, Topic } from './bus.ts';
import { ForwardingBus } from './forwarding-bus.ts';

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
