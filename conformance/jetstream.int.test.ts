import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StreamConfig } from '@nats-io/jetstream';
import { type Bus, NetworkedBus, rejectionOf, streamStart } from '@sluice/bus';
import { type Nats, startNats } from '@sluice/local';
import { silentLogger, sleep } from '@sluice/platform';
import { systemClock } from '@sluice/platform/process';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { after, ids, records, take } from './bus-records.ts';
import { asOperator, connectBus, type NatsFixture, startNatsFixture } from './jetstream-fixture.ts';

/** What JetStream adds to the bus contract: stream mismatches, streams deleted by operators, frozen servers. */

const token = 'a-secret-of-the-test';
let server: NatsFixture;
let locked: NatsFixture;
let nats: Nats;
let fleets = 0;

beforeAll(async () => {
  server = await startNatsFixture();
  locked = await startNatsFixture({ token });
  nats = server.nats;
});

afterAll(async () => {
  await server?.stop();
  await locked?.stop();
});

const newFleet = () => `fleet-${++fleets}`;
const open = (fleet = newFleet(), more = {}): Promise<Bus> =>
  connectBus({ servers: [nats.url], partitions: 2, fleet, ...more });
const operate = (work: Parameters<typeof asOperator<unknown>>[1]) => asOperator(nats.url, work);
const lost = { code: 'LOG_TRUNCATED' };

describe('at the start', () => {
  test('wrong credentials are rejected with an error that does not contain them; the right ones work', async () => {
    const options = { servers: [locked.nats.url], partitions: 1 };
    const refused = await connectBus({ ...options, credentials: { token: 'a-wrong-one' } }).catch((error) => error);
    expect(refused).toMatchObject({ name: 'BusSetupError', code: 'BUS_CREDENTIALS' });
    expect(String(refused)).not.toContain('a-wrong-one');
    await expect(connectBus(options)).rejects.toThrow(/rejects the credentials: none were given/);
    const bus = await connectBus({ ...options, credentials: { token } });
    await bus.close();
  });

  test('an unreachable server is named in the error', async () => {
    const refused = connectBus({ servers: ['nats://127.0.0.1:1'], partitions: 1, connectWithinMs: 200 });
    await expect(refused).rejects.toMatchObject({ code: 'BUS_UNREACHABLE' });
    await expect(refused).rejects.toThrow(/cannot reach NATS at nats:\/\/127\.0\.0\.1:1/);
  });

  test('a server without JetStream is an error at once', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'sluice-no-jetstream-'));
    const plain = await startNats({ directory, configuration: 'jetstream: disabled' });
    const refused = connectBus({ servers: [plain.url], partitions: 1 });
    await expect(refused).rejects.toMatchObject({ code: 'BUS_NO_JETSTREAM' });
    await plain.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  test('a stream mismatch is an error that lists the differences; the stream is not altered', async () => {
    const fleet = newFleet();
    await (await open(fleet)).close();
    const refused = open(fleet, { maxAgeMs: { mutations: 3_600_000 } });
    await expect(refused).rejects.toMatchObject({ code: 'BUS_STREAM_MISMATCH' });
    await expect(refused).rejects.toThrow(`stream ${fleet}-mutations-0: max_age is 86400000000000, want 3600000000000`);
    await operate(async (jsm) => {
      const { config } = await jsm.streams.info(`${fleet}-mutations-0`);
      expect(config.max_age).toBe(86_400_000_000_000);
    });
  });

  test('another number of partitions is rejected', async () => {
    const fleet = newFleet();
    await (await open(fleet)).close();
    const refused = open(fleet, { partitions: 4 });
    await expect(refused).rejects.toMatchObject({ code: 'BUS_OTHER_PARTITIONS' });
    await expect(refused).rejects.toThrow(/sluice-partitions is "2", want "4"/);
  });

  test('a subject that belongs to another stream is an error that names the stream', async () => {
    const fleet = newFleet();
    await operate((jsm) => jsm.streams.add({ name: `${fleet}-mine`, subjects: [`${fleet}.changes.*`] }));
    const refused = open(fleet);
    await expect(refused).rejects.toMatchObject({ code: 'BUS_STREAM_REFUSED' });
    await expect(refused).rejects.toThrow(`stream ${fleet}-mine already has its subject ${fleet}.changes.0`);
  });

  test('processes that start concurrently share the streams', async () => {
    const fleet = newFleet();
    const buses = await Promise.all([open(fleet), open(fleet), open(fleet)]);
    for (const bus of buses) await bus.close();
  });
});

describe('a user with the permissions of docs/guides/nats.md', () => {
  const guide = readFileSync(new URL('../docs/guides/nats.md', import.meta.url), 'utf8');
  const rights = /```conf\n([^`]*)```/.exec(guide)?.[1] ?? '';
  const credentials = { user: 'sluice', password: 'PASSWORD' };
  const withServer = async (configuration: string, work: (url: string) => Promise<void>) => {
    const limited = await startNatsFixture({ configuration });
    await work(limited.nats.url).finally(() => limited.stop());
  };

  test('can do everything that Sluice does', async () => {
    await withServer(rights, async (url) => {
      const logged: string[] = [];
      const note = (message: string) => logged.push(message);
      const logger = { ...silentLogger, warn: note, error: note };
      for (const round of [1, 2]) {
        const bus = await connectBus({ servers: [url], partitions: 2, credentials }, logger);
        await bus.append('requests', 0, records('r', round, round));
        await bus.append('mutations', 1, records('m', round, round));
        await bus.append('changes', 1, records('a', round * 2 - 1, round * 2));
        const reader = bus.read('changes', 1, streamStart);
        const offset = after(reader, (await take(reader, round * 2)).at(-2));
        reader.close();
        expect(ids(await take(bus.read('changes', 1, offset), 1))).toEqual([`a${round * 2}`]);
        expect((await bus.end('changes', 1)).id).toBe(`a${round * 2}`);
        await bus.close();
      }
      expect(logged).toEqual([]);
    });
  });

  test('a missing permission is an error at startup that names the subject', async () => {
    await withServer(rights.replace('"$JS.API.STREAM.LIST", ', ''), async (url) => {
      const refused = connectBus({ servers: [url], partitions: 2, credentials });
      await expect(refused).rejects.toMatchObject({ code: 'BUS_FORBIDDEN' });
      await expect(refused).rejects.toThrow('"$JS.API.STREAM.LIST"');
    });
  });
});

describe('append', () => {
  test('several publishers to one partition keep their order, and each record is stored once', async () => {
    const fleet = newFleet();
    const buses = await Promise.all([open(fleet), open(fleet), open(fleet)] as const);
    await Promise.all(
      buses.map(async (bus, publisher) => {
        for (let call = 0; call < 20; call++) {
          await bus.append('changes', 0, records(`p${publisher}-`, call * 20 + 1, call * 20 + 20));
        }
      }),
    );
    const [bus] = buses;
    const read = ids(await take(bus.read('changes', 0, streamStart), 1200));
    for (const publisher of [0, 1, 2]) {
      const prefix = `p${publisher}-`;
      expect(read.filter((id) => id.startsWith(prefix))).toEqual(ids(records(prefix, 1, 400)));
    }
    expect((await bus.end('changes', 0)).offset).toBe(1200);
    for (const each of buses) await each.close();
  });

  test('waits while the stream accepts no records', async () => {
    const fleet = newFleet();
    const bus = await open(fleet);
    const name = `${fleet}-changes-0`;
    await operate((jsm) => jsm.streams.update(name, { discard: 'new', max_msgs: 3 } as Partial<StreamConfig>));
    const append = bus.append('changes', 0, records('a', 1, 5));
    const reader = bus.read('changes', 0, streamStart);
    expect(ids(await take(reader, 3))).toEqual(['a1', 'a2', 'a3']);
    await operate((jsm) => jsm.streams.purge(name, { seq: 4 }));
    await append;
    expect(ids(await take(reader, 2))).toEqual(['a4', 'a5']);
    await bus.close();
  });

  test('a smaller record does not overtake one that does not fit', async () => {
    const fleet = newFleet();
    const bus = await open(fleet);
    const name = `${fleet}-changes-0`;
    await operate((jsm) => jsm.streams.update(name, { discard: 'new', max_bytes: 50_000 } as Partial<StreamConfig>));
    await bus.append('changes', 0, records('a', 1, 1, 40_000));
    const append = bus.append('changes', 0, [...records('b', 1, 1, 20_000), ...records('c', 1, 3)]);
    await operate((jsm) => jsm.streams.purge(name, { seq: 2 }));
    await append;
    const end = await bus.end('changes', 0);
    expect(end).toMatchObject({ offset: 5, id: 'c3' });
    const stored = await operate(async (jsm) => {
      const found = await Promise.all([2, 3, 4, 5].map((seq) => jsm.streams.getMessage(name, { seq })));
      return found.map((message) => message?.header.get('Nats-Msg-Id'));
    });
    expect(stored).toEqual(['b1', 'c1', 'c2', 'c3']);
    await bus.close();
  });

  test('a server frozen for longer than the acknowledgement timeout loses no record and no order', async () => {
    const bus = await open();
    const reader = bus.read('changes', 0, streamStart);
    await bus.append('changes', 0, records('a', 1, 3));
    await nats.process.freeze();
    const append = bus.append('changes', 0, records('a', 4, 40));
    // biome-ignore lint/plugin: how long the server is frozen
    await sleep(systemClock, 6_000);
    nats.process.signal('SIGCONT');
    await append;
    await bus.append('changes', 0, records('a', 41, 50));
    expect(ids(await take(reader, 50))).toEqual(ids(records('a', 1, 50)));
    expect((await bus.end('changes', 0)).offset).toBe(50);
    await bus.close();
  });
});

describe('a record that the server rejects', () => {
  test.each([
    ['alone', 0],
    ['among many', 250],
  ])('leaves a marker, and those after it are stored: %s', async (_, others) => {
    const fleet = newFleet();
    const bus = new NetworkedBus(await open(fleet), { clock: systemClock, logger: silentLogger });
    await operate(async (jsm) => {
      const { config } = await jsm.streams.info(`${fleet}-changes-0`);
      await jsm.streams.update(`${fleet}-changes-0`, { ...config, max_msg_size: 4_000 });
    });
    const large = { key: 'c/shop/web', id: 'large', headers: {}, payload: Buffer.alloc(5_000) };
    const before = records('a', 1, others);
    const all = [...before, large, ...records('b', 1, others), { ...large, id: 'large-2' }, ...records('c', 1, 1)];
    expect(await bus.append('changes', 0, all)).toEqual(all.map((_, index) => index + 1));
    const read = await take(bus.read('changes', 0, streamStart), all.length);
    expect(ids(read)).toEqual(ids(all));
    expect(read.flatMap((record) => rejectionOf(record) ?? [])).toEqual(
      Array(2).fill('message size exceeds maximum allowed (10054)'),
    );
    await bus.close();
  });
});

describe('read', () => {
  test('buffers only a limited number of records for a slow reader', async () => {
    const fleet = newFleet();
    const bus = await open(fleet);
    await bus.append('changes', 0, records('a', 1, 3000));
    const reader = bus.read('changes', 0, streamStart);
    await take(reader, 1);
    await operate(async (jsm) => {
      for await (const { delivered } of jsm.consumers.list(`${fleet}-changes-0`)) {
        expect(delivered.stream_seq).toBeLessThan(1200);
      }
    });
    expect((await take(reader, 2999)).at(-1)?.id).toBe('a3000');
    await bus.close();
  });

  test('records that expire before they are read are an error, not a gap', async () => {
    const bus = await open(newFleet(), { maxBytes: { changes: 1024 * 1024 } });
    const reader = bus.read('changes', 0, streamStart);
    await bus.append('changes', 0, records('a', 1, 1));
    await take(reader, 1);
    await bus.append('changes', 0, records('a', 2, 6000, 1000));
    const reading = (async () => {
      let last = 1;
      for (;;) {
        for (const { offset } of await reader.next(10)) expect(offset).toBe(++last);
      }
    })();
    await expect(reading).rejects.toMatchObject(lost);
    await expect(bus.read('changes', 0, streamStart).next(1)).rejects.toMatchObject(lost);
    await bus.close();
  });

  test('a record deleted from the middle is an error, not a gap', async () => {
    const fleet = newFleet();
    const bus = await open(fleet);
    await bus.append('changes', 0, records('a', 1, 5));
    await operate((jsm) => jsm.streams.deleteMessage(`${fleet}-changes-0`, 3));
    const reader = bus.read('changes', 0, streamStart);
    expect(ids(await take(reader, 2))).toEqual(['a1', 'a2']);
    await expect(reader.next(1)).rejects.toMatchObject(lost);
    await bus.close();
  });

  test('a purge of unread records is detected even if no record follows', async () => {
    const fleet = newFleet();
    const bus = await open(fleet);
    await bus.append('changes', 0, records('a', 1, 3000));
    const reader = bus.read('changes', 0, streamStart);
    await take(reader, 1);
    await operate((jsm) => jsm.streams.purge(`${fleet}-changes-0`));
    const reading = (async () => {
      let last = 1;
      for (;;) {
        for (const { offset } of await reader.next(100)) expect(offset).toBe(++last);
      }
    })();
    await expect(reading).rejects.toMatchObject(lost);
    await bus.close();
  });

  test('a purge does not affect a reader that has read everything', async () => {
    const fleet = newFleet();
    const bus = await open(fleet);
    await bus.append('changes', 0, records('a', 1, 5));
    const reader = bus.read('changes', 0, streamStart);
    await take(reader, 5);
    await operate((jsm) => jsm.streams.purge(`${fleet}-changes-0`));
    await bus.append('changes', 0, records('a', 6, 6));
    expect(ids(await take(reader, 1))).toEqual(['a6']);
    expect(await bus.end('changes', 0)).toMatchObject({ offset: 6, id: 'a6' });
    await bus.close();
  });

  test('a deleted stream is reported as truncated to its reader, and recreated by append or end', async () => {
    const fleet = newFleet();
    const bus = await open(fleet);
    for (const partition of [0, 1]) await bus.append('changes', partition, records('a', 1, 3));
    const reader = bus.read('changes', 0, streamStart);
    await take(reader, 3);
    await operate(async (jsm) => {
      for (const partition of [0, 1]) await jsm.streams.delete(`${fleet}-changes-${partition}`);
    });
    await expect(reader.next(1)).rejects.toMatchObject(lost);
    await bus.append('changes', 0, records('b', 1, 1));
    expect(await bus.end('changes', 0)).toMatchObject({ offset: 1, id: 'b1' });
    expect((await bus.end('changes', 1)).offset).toBe(0);
    await bus.close();
  });

  test('a consumer deleted by an operator is recreated', async () => {
    const fleet = newFleet();
    const bus = await open(fleet);
    await bus.append('changes', 0, records('a', 1, 2));
    const reader = bus.read('changes', 0, streamStart);
    await take(reader, 2);
    await operate(async (jsm) => {
      const stream = `${fleet}-changes-0`;
      for await (const { name } of jsm.consumers.list(stream)) await jsm.consumers.delete(stream, name);
    });
    await bus.append('changes', 0, records('a', 3, 3));
    expect(ids(await take(reader, 1))).toEqual(['a3']);
    await bus.close();
  });
});
