import { type Bus, MemoryBus } from '@sluice/bus';
import type { History } from '../history/history.ts';

/** A bus for watchers whose Changes nobody processes: they only become history. */
export function recordingBus(history: History): Bus {
  const requests = new MemoryBus({ partitions: 1 });
  return {
    partitions: requests.partitions,
    limits: requests.limits,
    async append(topic, partition, records) {
      if (topic === 'requests') return requests.append(topic, partition, records);
      for (const record of records) history.add(topic, partition, record);
      return undefined;
    },
    read: (topic, partition, after) => requests.read(topic, partition, after),
    beginning: (topic, partition) => requests.beginning(topic, partition),
    end: (topic, partition) => requests.end(topic, partition),
    close: () => requests.close(),
  };
}
