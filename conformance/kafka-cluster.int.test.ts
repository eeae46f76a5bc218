import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { streamStart } from '@sluice/bus';
import { connectKafkaBus, defaultKafkaTopics, type KafkaBusOptions } from '@sluice/bus/kafka';
import { type Kafka, startKafkaCluster } from '@sluice/local';
import { silentLogger } from '@sluice/platform';
import { systemClock, systemRandom } from '@sluice/platform/process';
import { recordingLogger } from '@sluice/platform/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ids, records, take, takeUntil } from './bus-records.ts';

/** Three brokers with three replicas of each partition, as in production: leaders are killed and return. */

const directory = mkdtempSync(join(tmpdir(), 'sluice-kafka-cluster-'));
let brokers: readonly Kafka[] = [];
let fleets = 0;

beforeAll(async () => {
  brokers = await startKafkaCluster(3, { directory });
});

afterAll(async () => {
  await Promise.all(brokers.map(({ process }) => process.kill()));
  rmSync(directory, { recursive: true, force: true });
});

const options = (): KafkaBusOptions => ({
  ...defaultKafkaTopics,
  brokers: brokers.map(({ broker }) => broker),
  clientId: 'conformance',
  fleet: `fleet-${++fleets}`,
  partitions: 3,
  clock: systemClock,
  random: systemRandom,
  logger: silentLogger,
});

const partitions = [0, 1, 2] as const;

test('killing and restarting each broker under load loses nothing and keeps the order', async () => {
  const bus = await connectKafkaBus(options());
  const load = new AbortController();
  const reading = partitions.map((partition) => takeUntil(bus.read('changes', partition, streamStart), 'last1'));
  let progress = 0;
  const appending = partitions.map(async (partition) => {
    let call = 0;
    for (; !load.signal.aborted; call++) {
      await bus.append('changes', partition, records('a', call * 10 + 1, call * 10 + 10));
      progress += 1;
    }
    await bus.append('changes', partition, records('last', 1, 1));
    return call * 10;
  });
  for (const { process, ready } of brokers) {
    await process.kill();
    const before = progress;
    // Two of three replicas suffice, with or without the former leader.
    await expect.poll(() => progress).toBeGreaterThan(before + 15);
    await process.start();
    await ready();
  }
  load.abort();
  for (const [i, appended] of (await Promise.all(appending)).entries()) {
    expect(distinct(ids((await reading[i]) ?? []))).toEqual([...ids(records('a', 1, appended)), 'last1']);
  }
  await bus.close();
});

test('with two of three brokers down, an append waits until one is back', async () => {
  const log = recordingLogger();
  const chosen = { ...options(), logger: log };
  const bus = await connectKafkaBus(chosen);
  await bus.append('changes', 0, records('a', 1, 5));
  const gone = brokers.slice(1);
  await Promise.all(gone.map(({ process }) => process.kill()));
  let settled = false;
  const append = bus.append('changes', 0, records('a', 6, 10)).finally(() => {
    settled = true;
  });
  const reading = take(bus.read('changes', 0, streamStart), 10);
  await expect.poll(() => log.messages('warn')).toContain('Kafka unavailable; retrying');
  expect(settled).toBe(false);
  for (const { process } of gone) await process.start();
  await append;
  expect(distinct(ids(await reading))).toEqual(ids(records('a', 1, 10)));
  await bus.close();
});

test('a start waits for the brokers that the replicas require', async () => {
  const [first, ...others] = brokers;
  await Promise.all(others.map(({ ready }) => ready()));
  await first?.process.kill();
  const starting = connectKafkaBus({ ...options(), connectWithinMs: 120_000 });
  await first?.process.start();
  const bus = await starting;
  await bus.append('changes', 2, records('a', 1, 1));
  await bus.close();
});

/** A record that was sent twice for lack of a response may be stored twice, but never in another order. */
function distinct(read: readonly string[]): readonly string[] {
  return [...new Set(read)];
}
