import { seededRandom, silentLogger, VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { expect, test } from 'vitest';
import { MemoryNats, memoryJetStreamBus } from './testing/index.ts';

async function openBus() {
  const clock = new VirtualClock();
  const nats = new MemoryNats(clock);
  const ports = { clock, random: seededRandom(1), logger: silentLogger };
  return { clock, nats, bus: await memoryJetStreamBus({ nats, partitions: 1 }, ports) };
}

const record = (id: string) => ({ key: 'k', id, headers: {}, payload: new Uint8Array(1) });

test('asks for the end of a log again if the connection is lost before the answer', async () => {
  const { clock, nats, bus } = await openBus();
  const { request } = nats;
  nats.request = (...args) => {
    nats.request = request;
    nats.cutConnections();
    return request.apply(nats, args);
  };
  const end = bus.end('changes', 0);
  end.catch(() => {});
  await advance(clock, 1_000);
  expect(await Promise.race([end, 'no answer'])).toMatchObject({ offset: 0 });
  await bus.close();
});

test('waits for the servers of a cluster that is starting', async () => {
  const clock = new VirtualClock();
  const nats = new MemoryNats(clock);
  const { request } = nats;
  let refused = 0;
  nats.request = (subject, ...rest) => {
    if (!subject.startsWith('$JS.API.STREAM.CREATE.') || refused === 4) return request.call(nats, subject, ...rest);
    refused += 1;
    return { error: { code: 400, err_code: 10005, description: 'no suitable peers for placement' } };
  };
  const opening = memoryJetStreamBus({ nats, partitions: 1 }, { clock, random: seededRandom(1), logger: silentLogger });
  await advance(clock, 10_000);
  const bus = await opening;
  expect(refused).toBe(4);
  expect(await bus.append('changes', 0, [record('a')])).toEqual([1]);
  await bus.close();
});

test('records that the log has already get the offsets that they have', async () => {
  const { bus } = await openBus();
  const records = ['a', 'b', 'c'].map(record);
  expect(await bus.append('changes', 0, records)).toEqual([1, 2, 3]);
  expect(await bus.append('changes', 0, records)).toEqual([1, 2, 3]);
  expect(await bus.append('changes', 0, [...records, record('d')])).toEqual([1, 2, 3, 4]);
  await bus.close();
});

test('a batch whose connection breaks is stored once and in order', async () => {
  const { clock, nats, bus } = await openBus();
  const { publish } = nats;
  let published = 0;
  nats.publish = (...args) => {
    published += 1;
    if (published === 3) nats.cutConnections();
    else publish.apply(nats, args);
  };
  const appended = bus.append('changes', 0, ['a', 'b', 'c', 'd'].map(record));
  await advance(clock, 10_000);
  expect(await appended).toEqual([1, 2, 3, 4]);
  expect(await bus.end('changes', 0)).toMatchObject({ offset: 4, id: 'd' });
  await bus.close();
});
