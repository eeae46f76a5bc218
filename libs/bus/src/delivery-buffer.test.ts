import { expect, test } from 'vitest';
import type { Delivery } from './bus.ts';
import { DeliveryBuffer } from './delivery-buffer.ts';

const delivery = (offset: number, bytes = 10): Delivery => {
  return { key: 'k', id: `${offset}`, headers: {}, payload: new Uint8Array(bytes), offset };
};
const offsets = async (records: Promise<readonly Delivery[]>) => (await records).map(({ offset }) => offset);

function filled(...records: readonly Delivery[]) {
  const taken: number[] = [];
  const buffer = new DeliveryBuffer((bytes) => taken.push(bytes));
  for (const record of records) buffer.push(record);
  return { buffer, taken };
}

test('returns records in order, at most as many as requested, and reports their size', async () => {
  const { buffer, taken } = filled(delivery(1, 10), delivery(2, 20), delivery(3, 30));
  expect(await offsets(buffer.next(2))).toEqual([1, 2]);
  expect([buffer.length, buffer.bytes, taken]).toEqual([1, 30, [30]]);
  expect(await offsets(buffer.next(2))).toEqual([3]);
  expect([buffer.length, buffer.bytes, taken]).toEqual([0, 0, [30, 30]]);
});

test('waits for a record', async () => {
  const { buffer } = filled();
  const next = offsets(buffer.next(1));
  buffer.push(delivery(1));
  expect(await next).toEqual([1]);
});

test('returns nothing while it is held, and never what it discarded', async () => {
  const { buffer } = filled(delivery(1), delivery(2));
  buffer.hold();
  const next = offsets(buffer.next(10));
  buffer.push(delivery(3));
  buffer.discardAfter(1);
  expect(buffer.bytes).toBe(10);
  buffer.unhold();
  expect(await next).toEqual([1]);
});

test('throws its first error after the records', async () => {
  const { buffer } = filled(delivery(1));
  buffer.fail(new Error('first'));
  buffer.fail(new Error('second'));
  expect(await offsets(buffer.next(10))).toEqual([1]);
  await expect(buffer.next(10)).rejects.toThrow('first');
});

test('returns nothing once it is closed', async () => {
  const { buffer, taken } = filled(delivery(1));
  const { buffer: empty } = filled();
  const waiting = empty.next(1);
  buffer.close();
  empty.close();
  expect(await buffer.next(1)).toEqual([]);
  expect(await waiting).toEqual([]);
  expect([buffer.bytes, taken]).toEqual([0, []]);
});
