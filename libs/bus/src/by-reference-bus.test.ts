import { afterEach, beforeEach, expect, test } from 'vitest';
import { type BusRecord, type Delivery, type PartitionReader, streamStart } from './bus.ts';
import { ByReferenceBus } from './by-reference-bus.ts';
import { MemoryBus } from './memory-bus.ts';

/** A log on servers: it delivers payloads only. */
let log: MemoryBus;
let bus: ByReferenceBus;

beforeEach(() => {
  log = new MemoryBus({ partitions: 2 });
  bus = new ByReferenceBus(log);
});

afterEach(() => bus.close());

const record = (id: string, text = id): BusRecord => ({
  ...{ key: 'c/ns/svc', id, headers: {}, payload: new TextEncoder().encode(text) },
  message: { text },
});

/** Reads `count` records and shows those with a message. */
async function read(reader: PartitionReader, count: number): Promise<readonly string[]> {
  const deliveries: Delivery[] = [];
  while (deliveries.length < count) deliveries.push(...(await reader.next(count - deliveries.length)));
  return deliveries.map(({ id, offset, message }) => `${offset} ${id}${message === undefined ? '' : ' by reference'}`);
}

test('a record of this process arrives with its message, those of others without, all in the order of the log', async () => {
  const reader = bus.read('changes', 0, streamStart);
  const mine = record('a');
  await bus.append('changes', 0, [mine]);
  await log.append('changes', 0, [record('b')]);
  await bus.append('changes', 0, [record('c')]);
  expect((await reader.next(1))[0]?.message).toBe(mine.message);
  expect(await read(reader, 2)).toEqual(['2 b', '3 c by reference']);
});

test('records of partitions that this process does not read are not kept', async () => {
  await bus.append('changes', 0, [record('a')]);
  const other = bus.read('changes', 1, streamStart);
  await bus.append('mutations', 1, [record('b')]);
  expect(await read(bus.read('changes', 0, streamStart), 1)).toEqual(['1 a']);
  expect(await read(bus.read('mutations', 1, streamStart), 1)).toEqual(['1 b']);
  other.close();
});

test('a record that another process stored under the same id with another content is delivered as it is in the log', async () => {
  const reader = bus.read('changes', 0, streamStart);
  log.append = async (topic, partition) => MemoryBus.prototype.append.call(log, topic, partition, [record('a', 'A')]);
  await bus.append('changes', 0, [record('a', 'B')]);
  const [delivery] = await reader.next(1);
  expect(delivery?.message).toBeUndefined();
  expect(new TextDecoder().decode(delivery?.payload)).toBe('A');
});

test('a reader that is far behind gets the oldest records without their messages', async () => {
  const reader = bus.read('changes', 0, streamStart);
  for (let n = 1; n <= 300; n++) await bus.append('changes', 0, [record(`r${n}`)]);
  const all = await read(reader, 300);
  expect(all[0]).toBe('1 r1');
  expect(all.at(-1)).toBe('300 r300 by reference');
  expect(all.filter((line) => line.endsWith('by reference'))).toHaveLength(256);
});

test('the next reader of a partition keeps records although the former one is closed later', async () => {
  const former = bus.read('changes', 0, streamStart);
  const next = bus.read('changes', 0, streamStart);
  former.close();
  await bus.append('changes', 0, [record('a')]);
  expect(await read(next, 1)).toEqual(['1 a by reference']);
  next.close();
  await bus.append('changes', 0, [record('b')]);
  expect(await read(bus.read('changes', 0, streamStart), 2)).toEqual(['1 a', '2 b']);
});
