import { NetworkedBus, rejectionOf, streamStart } from '@sluice/bus';
import { connectKafkaBus, type KafkaBusOptions } from '@sluice/bus/kafka';
import { silentLogger, sleep } from '@sluice/platform';
import { systemClock } from '@sluice/platform/process';
import { recordingLogger } from '@sluice/platform/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { after, ids, records, take } from './bus-records.ts';
import { KafkaFixture } from './kafka-fixture.ts';

/** What Kafka adds to the bus contract: topic mismatches, expired records, frozen brokers, users. */

const password = 'a-secret-of-the-test';
const login = 'org.apache.kafka.common.security.plain.PlainLoginModule required';

let fixture: KafkaFixture;
let locked: KafkaFixture;

beforeAll(async () => {
  fixture = await KafkaFixture.start();
  locked = await KafkaFixture.start({
    'listener.security.protocol.map': 'CLIENTS:SASL_PLAINTEXT,INTERNAL:PLAINTEXT,CONTROLLER:PLAINTEXT',
    'sasl.enabled.mechanisms': 'PLAIN',
    'listener.name.clients.plain.sasl.jaas.config': `${login} user_sluice="${password}";`,
  });
});

afterAll(async () => {
  await fixture?.stop();
  await locked?.stop();
});

const truncated = { code: 'LOG_TRUNCATED' };

describe('at the start', () => {
  test('a wrong password is rejected with an error that does not contain it; the right one works', async () => {
    const options = (sasl: string): KafkaBusOptions => ({
      ...locked.options(1),
      sasl: { mechanism: 'plain', username: 'sluice', password: sasl },
    });
    const log = recordingLogger();
    const refused = await connectKafkaBus({ ...options('a-wrong-one'), logger: log }).catch((error) => error);
    expect(refused).toMatchObject({ name: 'BusSetupError', code: 'BUS_CREDENTIALS' });
    expect(`${refused} ${JSON.stringify(log.lines)}`).not.toContain('a-wrong-one');
    const bus = await connectKafkaBus(options(password));
    await bus.append('changes', 0, records('a', 1, 1));
    expect(ids(await take(bus.read('changes', 0, streamStart), 1))).toEqual(['a1']);
    await bus.close();
  });

  test('an unreachable broker is named in the error', async () => {
    const options = { ...fixture.options(1), brokers: ['127.0.0.1:1'], connectWithinMs: 100 };
    const refused = connectKafkaBus(options);
    await expect(refused).rejects.toMatchObject({ code: 'BUS_UNREACHABLE' });
    await expect(refused).rejects.toThrow(/cannot reach Kafka at 127\.0\.0\.1:1/);
  });

  test('an address without a port is an error that names it', async () => {
    const refused = connectKafkaBus({ ...fixture.options(1), brokers: ['kafka'] });
    await expect(refused).rejects.toMatchObject({ code: 'BUS_OPTIONS' });
    await expect(refused).rejects.toThrow('Kafka broker "kafka": write it as host:port');
  });

  test('a topic mismatch is an error that lists the differences; the topic is not altered', async () => {
    const options = fixture.options(2);
    await (await connectKafkaBus(options)).close();
    const retentionBytes = { changes: 134_217_728, mutations: 134_217_728, requests: 16_777_216 };
    const refused = connectKafkaBus({ ...options, partitions: 4, retentionBytes, replicationFactor: 3 });
    await expect(refused).rejects.toMatchObject({ code: 'BUS_TOPIC_MISMATCH' });
    const { fleet } = options;
    await expect(refused).rejects.toThrow(`topic ${fleet}.changes: partitions is 2, want 4`);
    await expect(refused).rejects.toThrow(`topic ${fleet}.requests: replication factor is 1, want 3`);
    await expect(refused).rejects.toThrow(
      `topic ${fleet}.mutations: retention.bytes is 67108864, want at least 134217728`,
    );
    await (await connectKafkaBus(options)).close();
  });

  test('topics that accept smaller messages than configured are used within their limit', async () => {
    const options = fixture.options(2);
    await (await connectKafkaBus({ ...options, maxMessageBytes: 1_048_576 })).close();
    const bus = await connectKafkaBus(options);
    expect(options.maxMessageBytes).toBeGreaterThan(1_048_576);
    expect(bus.limits.recordBytes).toBeLessThan(1_048_576);
    const large = { key: 'k', id: 'large', headers: {}, payload: Buffer.alloc(bus.limits.recordBytes) };
    await bus.append('changes', 0, [large]);
    expect(ids(await take(bus.read('changes', 0, streamStart), 1))).toEqual(['large']);
    await bus.close();
  });

  test('a replication factor above the number of brokers is an error', async () => {
    const refused = connectKafkaBus({ ...fixture.options(2), replicationFactor: 3, connectWithinMs: 100 });
    await expect(refused).rejects.toMatchObject({ code: 'BUS_TOO_FEW_BROKERS' });
    await expect(refused).rejects.toThrow(/fewer Kafka brokers than the replication factor/);
  });

  test('processes that start concurrently share the topics', async () => {
    const options = fixture.options(3);
    const buses = await Promise.all([1, 2, 3].map(() => connectKafkaBus(options)));
    const readers = buses.map((bus) => bus.read('changes', 2, streamStart));
    await buses[0]?.append('changes', 2, records('a', 1, 2));
    for (const reader of readers) expect(ids(await take(reader, 2))).toEqual(['a1', 'a2']);
    for (const bus of buses) await bus.close();
  });
});

describe('expired records', () => {
  test('truncate the log for readers that have not read them, and for no others', async () => {
    const options = fixture.options(2);
    const bus = await connectKafkaBus(options);
    await bus.append('changes', 0, records('a', 1, 6));
    const reader = bus.read('changes', 0, streamStart);
    const read = await take(reader, 6);
    await deleteRecords(options.fleet, 4);
    await expect(bus.read('changes', 0, after(reader, read[2])).next(1)).rejects.toMatchObject(truncated);
    await expect(bus.read('changes', 0, streamStart).next(1)).rejects.toMatchObject(truncated);
    // The record before the offset is deleted, but none after it.
    expect(ids(await take(bus.read('changes', 0, after(reader, read[3])), 2))).toEqual(['a5', 'a6']);
    expect(ids(await take(bus.read('changes', 0, after(reader, read[4])), 1))).toEqual(['a6']);

    await deleteRecords(options.fleet, 6);
    const end = await bus.end('changes', 0);
    expect(end).toMatchObject({ offset: 6, id: '' });
    const onward = [bus.read('changes', 0, end), bus.read('changes', 0, after(reader, read[5])), reader];
    await bus.append('changes', 0, records('b', 1, 1));
    for (const each of onward) {
      expect((await take(each, 1)).map(({ id, offset }) => [id, offset])).toEqual([['b1', 7]]);
    }
    await bus.close();
  });

  async function deleteRecords(fleet: string, offset: number): Promise<void> {
    const admin = fixture.client().admin();
    await admin.connect();
    await admin.fetchTopicOffsets(`${fleet}.changes`); // kafkajs does not know the leaders otherwise
    await admin.deleteTopicRecords({
      topic: `${fleet}.changes`,
      partitions: [{ partition: 0, offset: String(offset) }],
    });
    await admin.disconnect();
  }
});

describe('a frozen broker', () => {
  test('continues after the freeze without losing records', async () => {
    const bus = await connectKafkaBus(fixture.options(2));
    const reader = bus.read('changes', 0, streamStart);
    await bus.append('changes', 0, records('a', 1, 1));
    await take(reader, 1);
    await fixture.kafka.process.freeze();
    const appended = bus.append('changes', 0, records('a', 2, 3));
    const reading = take(reader, 2);
    // biome-ignore lint/plugin: how long the broker is frozen
    await sleep(systemClock, 1_500);
    fixture.kafka.process.signal('SIGCONT');
    await appended;
    expect(ids(await reading)).toEqual(['a2', 'a3']);
    await bus.close();
  });

  test('does not block closing the bus', async () => {
    const bus = await connectKafkaBus(fixture.options(2));
    const waiting = bus.read('changes', 0, streamStart).next(1);
    await fixture.kafka.process.freeze();
    try {
      const append = Promise.allSettled([bus.append('changes', 0, records('a', 1, 1))]);
      const end = Promise.allSettled([bus.end('changes', 1)]);
      await bus.close();
      expect(await waiting).toEqual([]);
      expect((await append)[0]).toMatchObject({ status: 'rejected', reason: { code: 'BUS_CLOSED' } });
      expect((await end)[0]).toMatchObject({ status: 'rejected', reason: { code: 'BUS_CLOSED' } });
    } finally {
      fixture.kafka.process.signal('SIGCONT');
    }
  });
});

test('logs an outage once, and its end once', async () => {
  const log = recordingLogger();
  const bus = await connectKafkaBus({ ...fixture.options(4), logger: log });
  const readers = [0, 1, 2, 3].map((partition) => bus.read('changes', partition, streamStart));
  const waiting = readers.map((reader) => take(reader, 1));
  await fixture.kafka.process.kill();
  const appends = readers.map((_, partition) => bus.append('changes', partition, records('a', 1, 1)));
  await fixture.kafka.process.start();
  await Promise.all([...appends, ...waiting]);
  // The end is logged when the last caller has recovered.
  await expect.poll(() => log.messages('info').at(-1)).toBe('Kafka available again');
  expect(log.messages('warn').length).toBe(
    log.messages('info').filter((line) => line === 'Kafka available again').length,
  );
  expect(log.messages('warn').length).toBeLessThanOrEqual(2);
  await bus.close();
});

describe('a topic whose max.message.bytes is lowered', () => {
  test('stores a message in smaller chunks, and a marker for a record that fits in none', async () => {
    const options = fixture.options(1);
    const ports = { clock: systemClock, logger: silentLogger };
    const bus = new NetworkedBus(await connectKafkaBus(options), ports);
    await bus.append('changes', 0, records('a', 1, 1));
    const admin = fixture.client().admin();
    await admin.connect();
    const name = `${options.fleet}.changes`;
    const described = await admin.describeConfigs({ includeSynonyms: false, resources: [{ type: 2, name }] });
    const given = described.resources.flatMap((resource) => resource.configEntries).filter((entry) => !entry.isDefault);
    // Kafka resets what is not named.
    const kept = given.map((entry) => ({ name: entry.configName, value: entry.configValue }));
    const configEntries = [
      ...kept.filter((entry) => entry.name !== 'max.message.bytes'),
      { name: 'max.message.bytes', value: '100000' },
    ];
    await admin.alterConfigs({ validateOnly: false, resources: [{ type: 2, name, configEntries }] });
    await admin.disconnect();
    const large = { key: 'c/shop/web', id: 'large', headers: {}, payload: Buffer.alloc(500_000, 'x') };
    const hostile = { key: 'c/shop/web', id: 'hostile', headers: { a: 'x'.repeat(200_000) }, payload: Buffer.of() };
    await bus.append('changes', 0, [...records('b', 1, 20), large, hostile, ...records('c', 1, 20)]);
    const read = (await take(bus.read('changes', 0, streamStart), 43)).slice(1);
    expect(ids(read)).toEqual([...ids(records('b', 1, 20)), 'large', 'hostile', ...ids(records('c', 1, 20))]);
    expect(read[20]?.payload.length).toBe(500_000);
    expect(read.flatMap((record) => rejectionOf(record) ?? [])).toHaveLength(1);
    await bus.close();
  });
});
