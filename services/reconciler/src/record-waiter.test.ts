import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Delivery } from '@sluice/bus';
import { VirtualClock } from '@sluice/platform';
import { expect, test } from 'vitest';
import { RecordWaiter } from './record-waiter.ts';

const delivery = (offset: number): Delivery => ({
  key: 'k',
  id: `${offset}`,
  headers: {},
  payload: Buffer.of(),
  offset,
});

function waiterOn(clock = new VirtualClock()) {
  const reads: PromiseWithResolvers<readonly Delivery[]>[] = [];
  const waiter = new RecordWaiter(clock, () => {
    const read = Promise.withResolvers<readonly Delivery[]>();
    reads.push(read);
    return read.promise;
  });
  return { waiter, clock, reads };
}

test('returns undefined at the deadline, and the records that arrive after it with the next call', async () => {
  const { waiter, clock, reads } = waiterOn();
  const first = waiter.next(10);
  clock.step();
  expect(await first).toBeUndefined();
  const second = waiter.next(undefined);
  reads[0]?.resolve([delivery(1)]);
  expect(await second).toEqual([delivery(1)]);
  expect(reads).toHaveLength(1);
});

test('throws the error of the reader, also if it failed between two calls', async () => {
  const { waiter, clock, reads } = waiterOn();
  const first = waiter.next(0);
  clock.step();
  await first;
  reads[0]?.reject(new Error('closed'));
  await expect(waiter.next(undefined)).rejects.toThrow('closed');
});

test('throws the error that it is given while it waits', async () => {
  const { waiter } = waiterOn();
  const next = waiter.next(undefined);
  waiter.fail(new Error('not stored'));
  await expect(next).rejects.toThrow('not stored');
});

test('leaves no timer behind when records arrive or when it fails', async () => {
  const { waiter, clock, reads } = waiterOn();
  const next = waiter.next(10);
  reads[0]?.resolve([delivery(1)]);
  await next;
  expect(clock.nextAt()).toBeUndefined();
  const failing = waiter.next(10);
  waiter.fail(new Error('closed'));
  await expect(failing).rejects.toThrow('closed');
  expect(clock.nextAt()).toBeUndefined();
});

test('waits for no deadline if there is none, and not at all if it has passed', async () => {
  const { waiter, clock, reads } = waiterOn(new VirtualClock(100));
  const late = waiter.next(-50);
  expect(clock.nextAt()).toBe(100);
  clock.step();
  expect(await late).toBeUndefined();
  const patient = waiter.next(undefined);
  expect(clock.nextAt()).toBeUndefined();
  reads[0]?.resolve([delivery(1)]);
  expect(await patient).toHaveLength(1);
});

test('returns records that have arrived without a wait, each once, and reads on then', async () => {
  const { waiter, clock, reads } = waiterOn();
  const first = waiter.next(0);
  clock.step();
  await first;
  reads[0]?.resolve([delivery(1)]);
  await reads[0]?.promise;
  expect(await waiter.next(10)).toEqual([delivery(1)]);
  expect(clock.nextAt()).toBeUndefined();
  expect(reads).toHaveLength(1);
  const second = waiter.next(10);
  expect(reads).toHaveLength(2);
  reads[1]?.resolve([delivery(2)]);
  expect(await second).toEqual([delivery(2)]);
});

test('throws the first of several errors, again and again', async () => {
  const { waiter } = waiterOn();
  waiter.fail(new Error('first'));
  waiter.fail(new Error('second'));
  await expect(waiter.next(10)).rejects.toThrow('first');
  await expect(waiter.next(10)).rejects.toThrow('first');
});

test('keeps no records that it has returned', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const { waiter, reads } = waiterOn();
  const read = async () => {
    const next = waiter.next(undefined);
    reads.at(-1)?.resolve([delivery(1)]);
    return new WeakRef((await next) as object);
  };
  const returned = [await read(), await read()];
  reads.length = 0;
  const kept = () => {
    collect();
    return returned.filter((ref) => ref.deref() !== undefined).length;
  };
  await expect.poll(kept).toBe(0);
});
