import type { Bus, Delivery } from './bus.ts';

/** A bus whose readers return a batch once `onRead` has resolved for it. */
export function observedBus(bus: Bus, onRead: (deliveries: readonly Delivery[]) => Promise<void>): Bus {
  return {
    partitions: bus.partitions,
    get limits() {
      return bus.limits;
    },
    get connected() {
      return bus.connected ?? true;
    },
    append: (topic, partition, records) => bus.append(topic, partition, records),
    read(topic, partition, after) {
      const reader = bus.read(topic, partition, after);
      return {
        async next(max) {
          const deliveries = await reader.next(max);
          await onRead(deliveries);
          return deliveries;
        },
        get streamId() {
          return reader.streamId;
        },
        release: (offset) => reader.release(offset),
        close: () => reader.close(),
      };
    },
    beginning: (topic, partition) => bus.beginning(topic, partition),
    end: (topic, partition) => bus.end(topic, partition),
    close: () => bus.close(),
  };
}
