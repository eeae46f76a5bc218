import { expect, test } from 'vitest';
import { PartitionQueue } from './partition-queue.ts';

/** A batch holds two of these messages, including their overhead. */
const message = (name: string) => ({ key: '', value: Buffer.alloc(100), headers: { name } });
const newQueue = () => new PartitionQueue('t', 0, () => 350);

/** Resolves to the offsets of the records, or to the error. */
function add(queue: PartitionQueue, ...names: string[]): Promise<string | readonly number[]> {
  return new Promise((resolve) => {
    queue.add({
      messages: names.map(message),
      batches: 0,
      offsets: [],
      resolve,
      reject: ({ message }) => resolve(message),
    });
  });
}

const batchNames = (queue: PartitionQueue) => queue.batch()?.messages.map(({ headers }) => headers.name);

test('batches the records of several appends in order, up to the capacity, and says their offsets', async () => {
  const queue = newQueue();
  const first = add(queue, 'a1');
  const second = add(queue, 'b1', 'b2', 'b3');
  expect(batchNames(queue)).toEqual(['a1', 'b1']);
  queue.acknowledge(5);
  expect(await first).toEqual([5]);
  expect(batchNames(queue)).toEqual(['b2', 'b3']);
  // Another producer's record has offset 7.
  queue.acknowledge(8);
  expect(await second).toEqual([6, 8, 9]);
  expect(queue.idle).toBe(true);
});

test('keeps a batch unchanged until it is acknowledged', () => {
  const queue = newQueue();
  void add(queue, 'a1');
  expect(batchNames(queue)).toEqual(['a1']);
  void add(queue, 'b1');
  expect(batchNames(queue)).toEqual(['a1']);
  queue.acknowledge(1);
  expect(batchNames(queue)).toEqual(['b1']);
});

test('drops the rest of an append whose batch is rejected, and keeps other appends', async () => {
  const queue = newQueue();
  const rejected = add(queue, 'a1', 'a2', 'a3');
  const other = add(queue, 'b1');
  expect(batchNames(queue)).toEqual(['a1', 'a2']);
  queue.reject(() => new Error('too large'));
  expect(await rejected).toBe('too large');
  expect(batchNames(queue)).toEqual(['b1']);
  queue.acknowledge(1);
  expect(await other).toEqual([1]);
});

test('rejects the appends in flight and those waiting when it is closed', async () => {
  const queue = newQueue();
  const all = [add(queue, 'a1', 'a2', 'a3'), add(queue, 'b1')];
  queue.batch();
  queue.close(new Error('closed'));
  expect(await Promise.all(all)).toEqual(['closed', 'closed']);
  expect(queue.idle).toBe(true);
});

test('finds the record that the broker rejects in a batch of several appends', async () => {
  const queue = new PartitionQueue('t', 0, () => 10_000);
  const others = [add(queue, 'a1', 'a2'), add(queue, 'c1')];
  const rejected = add(queue, 'b1', 'bad', 'b3');
  const last = add(queue, 'd1');
  const stored: (string | undefined)[] = [];
  for (let names = batchNames(queue); names !== undefined; names = batchNames(queue)) {
    if (!names.includes('bad')) {
      queue.acknowledge(stored.length + 1);
      stored.push(...names.map(String));
    } else if (!queue.split()) queue.reject((offsets) => new Error(`rejected after ${offsets}`));
  }
  expect(stored).toEqual(['a1', 'a2', 'c1', 'b1', 'd1']);
  expect(await Promise.all([...others, rejected, last])).toEqual([[1, 2], [3], 'rejected after 4', [5]]);
});

test('batches are large again after a rejected record', () => {
  const queue = new PartitionQueue('t', 0, () => 10_000);
  void add(queue, 'a1', 'a2', 'a3', 'a4');
  queue.batch();
  queue.split();
  expect(batchNames(queue)).toEqual(['a1', 'a2']);
  queue.acknowledge(1);
  void add(queue, 'b1', 'b2');
  expect(batchNames(queue)).toEqual(['a3', 'a4', 'b1', 'b2']);
});
