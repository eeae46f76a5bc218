import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Bus, MemoryBus, NetworkedBus } from '@sluice/bus';
import { connectJetStreamBus } from '@sluice/bus/jetstream';
import { connectKafkaBus, defaultKafkaTopics } from '@sluice/bus/kafka';
import { startKafka, startNats } from '@sluice/local';
import { silentLogger } from '@sluice/platform';
import { systemClock as clock, systemRandom as random } from '@sluice/platform/process';

/** A bus and its servers. */
export interface BusUnderMeasure {
  /** Opens the bus as a process does; the in-memory bus exists once. */
  connect(): Promise<Bus>;
  stop(): Promise<void>;
}

const ports = { clock, random, logger: silentLogger };

export type StartBus = (partitions: number) => Promise<BusUnderMeasure>;

/** The buses that `--buses` selects from. */
export const BUSES: Readonly<Record<string, StartBus>> = {
  async memory(partitions) {
    const bus = new MemoryBus({ partitions });
    return { connect: async () => bus, stop: () => bus.close() };
  },

  jetstream: (partitions) => startJetStream(partitions, '1s'),

  'jetstream-sync-always': (partitions) => startJetStream(partitions, 'always'),

  kafka: startOneKafka,
};

async function startJetStream(partitions: number, syncInterval: string): Promise<BusUnderMeasure> {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-bench-bus-'));
  const nats = await startNats({ directory, syncInterval });
  return {
    connect: async () => new NetworkedBus(await connectJetStreamBus({ servers: [nats.url], partitions }, ports), ports),
    async stop() {
      await nats.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** A single broker, so appends wait for no replicas. */
async function startOneKafka(partitions: number): Promise<BusUnderMeasure> {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-bench-bus-'));
  const kafka = await startKafka({ directory });
  const topics = { ...defaultKafkaTopics, fleet: 'bench', partitions, replicationFactor: 1, minInsyncReplicas: 1 };
  return {
    connect: async () =>
      new NetworkedBus(
        await connectKafkaBus({ ...topics, ...ports, brokers: [kafka.broker], clientId: 'bench' }),
        ports,
      ),
    async stop() {
      await kafka.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
