import { type Bus, recordId, type Topic } from '@sluice/bus';
import { isServiceKey, partitionOf } from '@sluice/messages';
import { UsageError } from '@sluice/process';
import type { DeadLetter } from '@sluice/store';

const topics: readonly Topic[] = ['changes', 'mutations', 'requests'];

/**
 * Appends the record to the partition of its Service, or to its original one if it has none. It gets a new id, because the bus could drop the old one as a
 * duplicate.
 */
export async function replayDeadLetter(
  bus: Bus,
  { name, topic, partition, offset, record }: DeadLetter,
): Promise<void> {
  const known = topics.find((one) => one === topic);
  // The number of partitions may have changed since.
  const current =
    isServiceKey(record.key) && known !== 'requests' ? partitionOf(record.key, bus.partitions) : partition;
  if (known === undefined || current >= bus.partitions) {
    throw new UsageError(`cannot replay ${name}: this fleet has no partition ${current} of topic ${topic}`);
  }
  await bus.append(known, current, [{ ...record, id: recordId(record.id, 'replayed', offset) }]);
}
