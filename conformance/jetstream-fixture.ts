import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { connectJetStreamBus, type JetStreamBusOptions } from '@sluice/bus/jetstream';
import { type Nats, type NatsOptions, startNats } from '@sluice/local';
import { type Logger, silentLogger } from '@sluice/platform';
import { systemClock, systemRandom } from '@sluice/platform/process';
import type { BusUnderTest } from './bus-under-test.ts';

/** A real nats-server for the tests of one file. */
export interface NatsFixture {
  readonly nats: Nats;
  stop(): Promise<void>;
}

export async function startNatsFixture(options: Omit<NatsOptions, 'directory'> = {}): Promise<NatsFixture> {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-bus-'));
  const nats = await startNats({ directory, ...options });
  return {
    nats,
    async stop() {
      await nats.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

export function connectBus(options: JetStreamBusOptions, logger: Logger = silentLogger) {
  return connectJetStreamBus(options, { clock: systemClock, random: systemRandom, logger });
}

/** Runs administrative requests, as an operator would with the `nats` command. */
export async function asOperator<T>(
  url: string,
  work: (jsm: Awaited<ReturnType<typeof jetstreamManager>>) => Promise<T>,
): Promise<T> {
  const connection = await connect({ servers: url.split(',') });
  try {
    return await work(await jetstreamManager(connection));
  } finally {
    await connection.close();
  }
}

let fleets = 0;

/** The logs of a new fleet. The faults affect the whole server. */
export function jetstreamUnderTest(nats: Nats, options: { readonly partitions: number }): BusUnderTest {
  fleets += 1;
  const fleet = `fleet-${process.pid}-${fleets}`;
  const data = join(nats.directory, 'data');
  const saved = join(nats.directory, 'saved');
  const start = async () => {
    await nats.process.start();
    await nats.ready();
  };
  return {
    connect: () => connectBus({ ...options, servers: [nats.url], fleet }),
    faults: {
      kill: () => nats.process.kill(),
      start,
      async save() {
        await nats.process.stop();
        rmSync(saved, { recursive: true, force: true });
        cpSync(data, saved, { recursive: true });
        await start();
      },
      async rewind() {
        await nats.process.kill();
        rmSync(data, { recursive: true, force: true });
        cpSync(saved, data, { recursive: true });
        await start();
      },
      recreate: (topic, partition) =>
        asOperator(nats.url, async (jsm) => {
          const name = `${fleet}-${topic}-${partition}`;
          const { config } = await jsm.streams.info(name);
          await jsm.streams.delete(name);
          await jsm.streams.add(config);
        }),
    },
    async dispose() {
      await start();
      await asOperator(nats.url, async (jsm) => {
        for await (const name of jsm.streams.names(`${fleet}.>`)) await jsm.streams.delete(name);
      });
    },
  };
}
