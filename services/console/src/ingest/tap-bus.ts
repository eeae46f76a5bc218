import type { Bus } from '@sluice/bus';
import type { History } from '../history/history.ts';

/**
 * The same bus, of which the history keeps whatever is appended: where everything runs in one process, whose bus drops
 * records as soon as they are worked off.
 */
export function tapBus(bus: Bus, history: History): Bus {
  return {
    partitions: bus.partitions,
    append(topic, partition, records) {
      // Kept in the order of the calls, which is the order of the log.
      const appended = bus.append(topic, partition, records);
      for (const record of records) history.add(topic, record);
      return appended;
    },
    read: (topic, partition, after) => bus.read(topic, partition, after),
    beginning: (topic, partition) => bus.beginning(topic, partition),
    end: (topic, partition) => bus.end(topic, partition),
    close: () => bus.close(),
  };
}
