import type { Topic } from '@sluice/bus';
import { type Random, randomInteger } from '@sluice/platform';
import type { SimulatedLog } from './doubles/simulated-bus.ts';
import { leaseTimes, type Role } from './fleet.ts';
import type { World } from './world.ts';

const topics: readonly Topic[] = ['changes', 'mutations', 'requests'];
const readerOf: Readonly<Record<Topic, Role>> = { changes: 'reconciler', mutations: 'writer', requests: 'watcher' };

/** Logs that do not show by their offsets alone that records are lost. */
export const logFaults = {
  /** Its readers are away while a recreated log comes close to the offset at which they stopped, or passes it. */
  'log refilled'(random: Random, world: World) {
    const { clock, fleet, log } = world;
    const topic = topics[randomInteger(random, 0, topics.length - 1)] ?? 'changes';
    const awayMs = randomInteger(random, 100, 3 * leaseTimes.ttlMs);
    for (const { process } of fleet.membersOf(readerOf[topic])) {
      if (random.next() < 0.3) continue;
      process.freeze();
      clock.schedule(awayMs, () => process.thaw());
    }
    forLogs(random, world, topic, (one) => {
      const end = one.end().offset;
      one.recreate();
      // The records before were released.
      one.startAt(Math.max(0, end + randomInteger(random, -4, 4)));
    });
    return {
      forMs: awayMs + 2 * leaseTimes.ttlMs,
      what: `recreate and refill ${topic} of ${log.partitions} partitions`,
    };
  },
  /** Other records have the offsets of those that were lost. */
  'records replaced'(random: Random, world: World) {
    const topic = topics[randomInteger(random, 0, topics.length - 1)] ?? 'changes';
    forLogs(random, world, topic, (one, partition) => {
      const { last } = one;
      if (last === undefined) return;
      one.loseLast(randomInteger(random, 2, 6));
      void world.log.append(topic, partition, [last]);
    });
    return { forMs: 2 * leaseTimes.ttlMs, what: `replace the last records of ${topic}` };
  },
};

/** One partition or all. */
function forLogs(
  random: Random,
  { log }: World,
  topic: Topic,
  act: (log: SimulatedLog, partition: number) => void,
): void {
  const only = random.next() < 0.5 ? randomInteger(random, 0, log.partitions - 1) : undefined;
  for (let partition = 0; partition < log.partitions; partition++)
    if (only === undefined || only === partition) act(log.log(topic, partition), partition);
}
