import { MemoryBus } from '@sluice/bus';
import type { Clock } from '@sluice/platform';
import { MemoryClusterDirectory, MemoryDeadLetters, MemoryLeases, MemoryStore } from '@sluice/store';

/** Bus and store of a fleet in memory, with two partitions. */
export function memoryFleet(clock: Clock) {
  const leases = new MemoryLeases(clock);
  return {
    bus: new MemoryBus({ partitions: 2 }),
    store: new MemoryStore(),
    leases,
    deadLetters: new MemoryDeadLetters(),
    directory: new MemoryClusterDirectory(),
    /** Lets a member acquire these scopes. */
    heartbeat: (group: string, member: string, acquire: readonly string[]) =>
      leases.heartbeat({ group, member, ttlMs: 60_000, acquire, release: [] }),
  };
}
