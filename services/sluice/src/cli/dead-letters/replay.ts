import type { Bus, Topic } from '@sluice/bus';
import { UsageError } from '@sluice/process';
import type { DeadLetter } from '@sluice/store';

const topics: readonly Topic[] = ['changes', 'mutations', 'requests'];

/**
 * Appends the record to its original partition. It gets a new id, because the bus could drop the old one as a
 * duplicate.
 */
export async function replayDeadLetter(
  bus: Bus,
  { name, topic, partition, offset, record }: DeadLetter,
): Promise<void> {
  const known = topics.find((one) => one === topic);
  if (known === undefined || partition >= bus.partitions) {
    throw new UsageError(`cannot replay ${name}: this fleet has no partition ${partition} of topic ${topic}`);
  }
  await bus.append(known, partition, [{ ...record, id: `${record.id}/replayed/${offset}` }]);
}
