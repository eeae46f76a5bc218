import { ChunkedBus, MemoryBus } from '@sluice/bus';
import { systemClock } from '@sluice/process';
import { silentLogger, VirtualClock } from '@sluice/runtime';
import { MemoryClusterDirectory, MemoryClusterPins, MemoryDeadLetters, MemoryLeases, MemoryStore } from '@sluice/store';
import { Lua, type MemoryPortsOptions, MemoryRedis, memoryPorts } from '@sluice/store-redis/testing';
import { busContract } from './bus-contract.ts';
import { clusterDirectoryContract } from './cluster-directory-contract.ts';
import { clusterPinsContract } from './cluster-pins-contract.ts';
import { deadLettersContract } from './dead-letters-contract.ts';
import { leasesContract } from './leases-contract.ts';
import { storeContract } from './store-contract.ts';

const maxBacklog = 20;

busContract('memory', { maxBacklog }, async ({ partitions }) => {
  const bus = new MemoryBus({ partitions, maxBacklog });
  return { connect: async () => bus, dispose: () => bus.close() };
});
busContract('memory with limits', { limited: true }, async ({ partitions }) => {
  const bus = new MemoryBus({ partitions, limits: { recordBytes: 1_000_000, messageBytes: 4_000_000 } });
  return { connect: async () => bus, dispose: () => bus.close() };
});
busContract('memory, chunked', { maxBacklog }, async ({ partitions }) => {
  const limits = { recordBytes: 100_000, messageBytes: 1024 ** 2 };
  const inner = new MemoryBus({ partitions, maxBacklog, limits });
  const bus = new ChunkedBus(inner, { clock: systemClock, logger: silentLogger });
  return { connect: async () => bus, dispose: () => bus.close() };
});
storeContract('memory', async () => new MemoryStore());
clusterDirectoryContract('memory', async () => new MemoryClusterDirectory());
clusterPinsContract('memory', async () => new MemoryClusterPins());
deadLettersContract('memory', async () => new MemoryDeadLetters({ max: 5, maxBytes: 1_500 }));
leasesContract('memory', 400, async () => {
  const clock = new VirtualClock(Date.UTC(2026, 0, 1));
  const pass = async (ms: number) => {
    clock.step(clock.now() + ms);
  };
  return { leases: new MemoryLeases(clock), pass };
});

const lua = await Lua.load();

/** A fleet on a Redis server in this process, whose clock the tests set. */
function memoryRedis(options: Partial<MemoryPortsOptions> = {}) {
  const clock = new VirtualClock(Date.UTC(2026, 0, 1));
  const server = new MemoryRedis({ lua, clock, scanLimit: 300 });
  return { clock, ...memoryPorts({ server, clock, fleet: 'sluice', ...options }) };
}

storeContract('Redis in memory', async () => memoryRedis().store);
clusterDirectoryContract('Redis in memory', async () => memoryRedis().directory);
clusterPinsContract('Redis in memory', async () => memoryRedis().clusterPins);
deadLettersContract(
  'Redis in memory',
  async () => memoryRedis({ maxDeadLetters: 5, maxDeadLetterBytes: 1_500 }).deadLetters,
);
leasesContract('Redis in memory', 400, async () => {
  const { clock, leases } = memoryRedis();
  const pass = async (ms: number) => {
    clock.step(clock.now() + ms);
  };
  return { leases, pass };
});
