import { silentLogger, VirtualClock } from '@sluice/platform';
import { beforeEach, describe, expect, test } from 'vitest';
import { type BusRecord, type Delivery, LogTruncatedError, type PartitionReader, streamStart } from './bus.ts';
import { splitRecord } from './chunks.ts';
import { MemoryBus } from './memory-bus.ts';
import { NetworkedBus } from './networked-bus.ts';
import { rejectionOf } from './records.ts';

const limits = { recordBytes: 10, messageBytes: 100 };
let clock: VirtualClock;
let inner: MemoryBus;
let bus: NetworkedBus;

beforeEach(() => {
  clock = new VirtualClock(0);
  inner = new MemoryBus({ partitions: 1, limits });
  bus = new NetworkedBus(inner, { clock, logger: silentLogger });
});

const record = (id: string, text = id): BusRecord => ({
  key: 'key',
  id,
  headers: { traceparent: id },
  payload: new TextEncoder().encode(text),
});
const large = record('large', 'abcdefghijklmnopqrstuvwxyz');
const chunks = splitRecord(large, limits.recordBytes);
const chunk = (index: number): BusRecord => chunks[index] ?? record('missing');
const append = (...records: BusRecord[]) => inner.append('changes', 0, records);
const text = ({ payload }: Delivery) => new TextDecoder().decode(payload);

/** What `next` returns without waiting; undefined if it waits. */
async function poll(next: Promise<readonly Delivery[]>): Promise<readonly string[] | undefined> {
  let result: readonly string[] | undefined;
  void next.then((deliveries) => {
    result = deliveries.map(text);
  });
  await new Promise((resolve) => setImmediate(resolve));
  return result;
}

async function read(reader: PartitionReader, count: number): Promise<readonly Delivery[]> {
  const deliveries: Delivery[] = [];
  while (deliveries.length < count) deliveries.push(...(await reader.next(count)));
  return deliveries;
}

test('a record that fits passes unchanged', async () => {
  await bus.append('changes', 0, [record('small')]);
  expect(await inner.read('changes', 0, streamStart).next(10)).toEqual([{ ...record('small'), offset: 1 }]);
});

test('a larger record is split into records that fit, the last with its id, and is joined again', async () => {
  await bus.append('changes', 0, [record('a'), large, record('b')]);
  const raw = await inner.read('changes', 0, streamStart).next(10);
  expect(raw.map(({ payload }) => payload.length)).toEqual([1, 10, 10, 6, 1]);
  expect(raw[3]?.id).toBe('large');
  const joined = await read(bus.read('changes', 0, streamStart), 3);
  expect(joined).toMatchObject([{ offset: 1 }, { id: 'large', headers: large.headers, offset: 4 }, { offset: 5 }]);
  expect(joined.map(text)).toEqual(['a', 'abcdefghijklmnopqrstuvwxyz', 'b']);
});

test('a record that exceeds the message limit leaves a marker, between the records beside it', async () => {
  const records = [record('a'), large, record('huge', 'x'.repeat(101)), record('b')];
  expect(await bus.append('changes', 0, records)).toEqual([1, 4, 5, 6]);
  const read = await bus.read('changes', 0, streamStart).next(10);
  expect(read.map(({ id }) => id)).toEqual(['a', 'large', 'huge', 'b']);
  const reason = 'payload of 101 bytes exceeds the limit of 100';
  expect(read.map(rejectionOf)).toEqual([undefined, undefined, reason, undefined]);
});

test('records of others that come in between wait, and follow in the order of completion', async () => {
  await append(record('a'), chunk(0), record('b'), chunk(1));
  const reader = bus.read('changes', 0, streamStart);
  expect((await reader.next(10)).map(text)).toEqual(['a']);
  await append(chunk(2), record('c'));
  const rest = await read(reader, 3);
  expect(rest.map(({ id, offset }) => [id, offset])).toEqual([
    ['b', 3],
    ['large', 5],
    ['c', 6],
  ]);
});

test('a stored offset is before the first chunk of an incomplete message, so the next reader gets all of it', async () => {
  await append(record('a'), chunk(0), chunk(1));
  const first = bus.read('changes', 0, streamStart);
  const [last] = await first.next(10);
  first.close();
  await append(chunk(2));
  const next = bus.read('changes', 0, { offset: last?.offset ?? 0, id: 'a', streamId: 'memory' });
  expect((await next.next(10)).map(text)).toEqual(['abcdefghijklmnopqrstuvwxyz']);
});

test('repeated chunks are ignored', async () => {
  await append(chunk(0), chunk(1), chunk(0), chunk(1), chunk(2), chunk(1), chunk(2), record('a'));
  expect((await read(bus.read('changes', 0, streamStart), 2)).map(text)).toEqual(['abcdefghijklmnopqrstuvwxyz', 'a']);
});

test('two messages whose chunks alternate are both joined', async () => {
  const other = splitRecord(record('other', '0123456789ABCDEF'), limits.recordBytes);
  await append(chunk(0), ...other.slice(0, 1), chunk(1), ...other.slice(1), chunk(2));
  const both = await read(bus.read('changes', 0, streamStart), 2);
  expect(both.map(text)).toEqual(['0123456789ABCDEF', 'abcdefghijklmnopqrstuvwxyz']);
});

describe('a message whose sender stopped in the middle', () => {
  test('holds up later records for a second', async () => {
    await append(chunk(0), record('a'));
    const next = bus.read('changes', 0, streamStart).next(10);
    expect(await poll(next)).toBeUndefined();
    clock.step(999);
    expect(await poll(next)).toBeUndefined();
    clock.step(1_000);
    expect(await poll(next)).toEqual(['a']);
  });

  test('is still joined when its sender continues', async () => {
    await append(chunk(0), record('a'));
    const reader = bus.read('changes', 0, streamStart);
    const next = reader.next(10);
    await poll(next);
    clock.step(1_000);
    expect(await poll(next)).toEqual(['a']);
    await append(chunk(1), chunk(2));
    expect((await reader.next(10)).map(text)).toEqual(['abcdefghijklmnopqrstuvwxyz']);
  });

  test('does not grow without limit: the oldest is dropped', async () => {
    const senders = Array.from({ length: 30 }, (_, i) => splitRecord(record(`m${i}`, 'x'.repeat(15)), 10));
    await append(...senders.flatMap(([first]) => first ?? []), record('a'));
    const reader = bus.read('changes', 0, streamStart);
    const next = reader.next(100);
    await poll(next);
    clock.step(1_000);
    expect(await poll(next)).toEqual(['a']);
    await append(...senders.flatMap(([, second]) => second ?? []), record('b'));
    const joined = await read(reader, 21);
    expect([joined.length, joined.at(-1)?.id]).toEqual([21, 'b']);
  });
});

test('a message of which a chunk is missing is dropped, and later records pass', async () => {
  await append(chunk(0), chunk(2), record('a'), chunk(1));
  expect((await bus.read('changes', 0, streamStart).next(10)).map(text)).toEqual(['a']);
});

test('a reader that starts in the middle of a message does not wait for it', async () => {
  await append(chunk(0), chunk(1), chunk(2), record('a'));
  const reader = bus.read('changes', 0, { offset: 1, id: chunk(0).id, streamId: 'memory' });
  expect((await reader.next(10)).map(text)).toEqual(['a']);
});

test('forged chunks are dropped: a wrong checksum, a wrong size, too large a message', async () => {
  const forged = (header: string, payload: string, id = 'forged'): BusRecord => ({
    ...record(id, payload),
    headers: { 'Sluice-Chunk': header },
  });
  await append(forged('0/1/5/12345', 'hello'), forged('0/1/1/1', 'hello'), forged('0/2/9999/1', 'hello'));
  await append(forged('what', 'hello'), record('a'));
  const next = bus.read('changes', 0, streamStart).next(10);
  expect(await poll(next)).toEqual(['a']);
});

test('when the log is truncated, records that were held come first', async () => {
  const truncated = new LogTruncatedError('records are gone');
  let calls = 0;
  const reader: PartitionReader = {
    streamId: 'log',
    next: async () => {
      if (calls++ > 0) throw truncated;
      return [chunk(0), record('a')].map((each, i) => ({ ...each, offset: i + 1 }));
    },
    release() {},
    close() {},
  };
  const chunked = new NetworkedBus(Object.assign(new MemoryBus({ partitions: 1, limits }), { read: () => reader }), {
    clock,
    logger: silentLogger,
  }).read('changes', 0, streamStart);
  expect((await chunked.next(10)).map(text)).toEqual(['a']);
  await expect(chunked.next(10)).rejects.toThrow(truncated);
  await expect(chunked.next(10)).rejects.toThrow(truncated);
});

test('a bus without limits encodes no payload', async () => {
  const unlimited = new NetworkedBus(new MemoryBus({ partitions: 1, byReference: true }), {
    clock,
    logger: silentLogger,
  });
  const lazy: BusRecord = {
    ...{ key: 'k', id: 'i', headers: {}, message: {} },
    get payload(): Uint8Array {
      throw new Error('encoded');
    },
  };
  await unlimited.append('changes', 0, [lazy]);
  expect(await unlimited.read('changes', 0, streamStart).next(1)).toMatchObject([{ id: 'i', offset: 1 }]);
});
