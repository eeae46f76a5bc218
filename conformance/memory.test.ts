import { MemoryBus, NetworkedBus } from '@sluice/bus';
import { MemoryNats, memoryConnection, memoryJetStreamBus } from '@sluice/bus/jetstream/testing';
import { silentLogger, VirtualClock } from '@sluice/platform';
import { systemClock, systemRandom } from '@sluice/platform/process';
import { MemoryClusterDirectory, MemoryDeadLetters, MemoryDocument, MemoryLeases, MemoryStore } from '@sluice/store';
import { Lua, type MemoryPortsOptions, MemoryRedis, memoryPorts } from '@sluice/store/redis/testing';
import { busContract } from './bus-contract.ts';
import { busFaultsContract } from './bus-faults-contract.ts';
import type { BusUnderTest } from './bus-under-test.ts';
import { clusterDirectoryContract } from './cluster-directory-contract.ts';
import { clusterPinsContract } from './cluster-pins-contract.ts';
import { deadLettersContract } from './dead-letters-contract.ts';
import { jetstreamProtocolContract } from './jetstream-protocol-contract.ts';
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
  const bus = new NetworkedBus(inner, { clock: systemClock, logger: silentLogger });
  return { connect: async () => bus, dispose: () => bus.close() };
});
storeContract('memory', async () => new MemoryStore());
clusterDirectoryContract('memory', async () => new MemoryClusterDirectory());
clusterPinsContract('memory', async () => new MemoryDocument());
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
  return { clock, server, ...memoryPorts({ server, clock, fleet: 'sluice', ...options }) };
}

storeContract('Redis in memory', async () => memoryRedis().store);
clusterDirectoryContract('Redis in memory', async () => memoryRedis().directory);
clusterPinsContract('Redis in memory', async () => memoryRedis().clusterPins);
deadLettersContract(
  'Redis in memory',
  async () => memoryRedis({ maxDeadLetters: 5, maxDeadLetterBytes: 1_500 }).deadLetters,
);
leasesContract('Redis in memory', 400, async () => {
  const { clock, server, leases } = memoryRedis();
  const pass = async (ms: number) => {
    clock.step(clock.now() + ms);
  };
  const load = async (data: ReturnType<typeof server.save>) => server.load(data, () => true);
  const save = async () => {
    const data = server.save();
    return () => load(data);
  };
  return { leases, pass, wipe: () => load(new Map()), save };
});

/** Logs on a NATS server in this process, with one replica or three. */
function memoryJetStream(partitions: number, replicas: number): BusUnderTest {
  const nats = new MemoryNats(systemClock);
  const ports = { clock: systemClock, random: systemRandom, logger: silentLogger };
  let saved = nats.save();
  return {
    connect: () => memoryJetStreamBus({ nats, partitions, replicas }, ports),
    faults: {
      kill: async () => nats.kill(),
      start: async () => nats.start(),
      save: async () => {
        saved = nats.save();
      },
      rewind: async () => nats.rewind(saved),
      recreate: async (topic, partition) => nats.recreate(`sluice-${topic}-${partition}`),
    },
    dispose: async () => {},
  };
}

for (const replicas of [1, 3]) {
  const name = `JetStream in memory, replicas: ${replicas}`;
  const features = { limited: true, countsHeaders: true, dedupes: true, shared: true, faults: true };
  busContract(name, features, async ({ partitions }) => memoryJetStream(partitions, replicas));
  busFaultsContract(name, async ({ partitions }) => memoryJetStream(partitions, replicas));
}

jetstreamProtocolContract('NATS in memory', async () =>
  memoryConnection(new MemoryNats(systemClock), systemClock, 1024 * 1024),
);
