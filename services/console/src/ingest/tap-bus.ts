import type { Bus } from '@sluice/bus';
import type { History } from '../history/history.ts';

/** Wraps a bus and adds each appended record to the history. For the in-memory bus, which drops processed records. */
export function tapBus(bus: Bus, history: History): Bus {
  return {
    partitions: bus.partitions,
    get limits() {
      return bus.limits;
    },
    append(topic, partition, records) {
      // The order of the calls is the order of the log.
      const appended = bus.append(topic, partition, records);
      for (const record of records) history.add(topic, partition, record);
      return appended;
    },
    read: (topic, partition, after) => bus.read(topic, partition, after),
    beginning: (topic, partition) => bus.beginning(topic, partition),
    end: (topic, partition) => bus.end(topic, partition),
    close: () => bus.close(),
  };
}
