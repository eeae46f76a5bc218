import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Bus, Topic } from '@sluice/bus';
import { connectKafkaBus, defaultKafkaTopics, type KafkaBusOptions } from '@sluice/bus/kafka';
import { type Kafka, startKafka } from '@sluice/local';
import { silentLogger } from '@sluice/platform';
import { systemClock, systemRandom } from '@sluice/platform/process';
import kafkajs from 'kafkajs';
import type { BusFaults, BusUnderTest, CreateBusUnderTest } from './bus-under-test.ts';

/** A real broker for the tests of one file. */
export class KafkaFixture {
  readonly kafka: Kafka;
  readonly #saved: string;
  #fleets = 0;

  static async start(properties: Readonly<Record<string, string>> = {}): Promise<KafkaFixture> {
    const directory = mkdtempSync(join(tmpdir(), 'sluice-kafka-'));
    return new KafkaFixture(await startKafka({ directory, properties }));
  }

  constructor(kafka: Kafka) {
    this.kafka = kafka;
    this.#saved = join(kafka.directory, 'saved');
  }

  readonly create: CreateBusUnderTest = async ({ partitions }): Promise<BusUnderTest> => {
    const options = this.options(partitions);
    const buses: Bus[] = [];
    return {
      connect: async () => {
        const bus = await connectKafkaBus(options);
        buses.push(bus);
        return bus;
      },
      faults: this.#faults(options),
      dispose: async () => {
        for (const bus of buses) await bus.close();
        await this.#deleteTopics(options, ['changes', 'mutations', 'requests']);
      },
    };
  };

  /** Options for a new fleet. */
  options(partitions: number): KafkaBusOptions {
    return {
      ...defaultKafkaTopics,
      brokers: [this.kafka.broker],
      clientId: 'conformance',
      fleet: `fleet-${++this.#fleets}`,
      partitions,
      replicationFactor: 1,
      minInsyncReplicas: 1,
      clock: systemClock,
      random: systemRandom,
      logger: silentLogger,
    };
  }

  client() {
    return new kafkajs.Kafka({ brokers: [this.kafka.broker], logLevel: kafkajs.logLevel.NOTHING });
  }

  async stop(): Promise<void> {
    await this.kafka.process.kill();
    rmSync(this.kafka.directory, { recursive: true, force: true });
  }

  async #deleteTopics({ fleet }: KafkaBusOptions, topics: readonly Topic[]): Promise<void> {
    const admin = this.client().admin();
    await admin.connect();
    await admin.deleteTopics({ topics: topics.map((topic) => `${fleet}.${topic}`) });
    await admin.disconnect();
  }

  #faults(options: KafkaBusOptions): BusFaults {
    const { kafka } = this;
    const kill = () => kafka.process.kill();
    const start = async () => {
      await kafka.process.start();
      await kafka.ready();
    };
    const copy = (from: string, to: string) => {
      rmSync(to, { recursive: true, force: true });
      cpSync(from, to, { recursive: true });
    };
    return {
      kill,
      start,
      save: async () => {
        await kill();
        copy(kafka.data, this.#saved);
        await start();
      },
      rewind: async () => {
        await kill();
        copy(this.#saved, kafka.data);
        await start();
      },
      // Kafka can delete only whole topics.
      recreate: async (topic: Topic) => {
        await this.#deleteTopics(options, [topic]);
        const bus = await connectKafkaBus(options);
        await bus.close();
      },
    };
  }
}
