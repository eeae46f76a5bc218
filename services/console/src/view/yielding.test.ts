import type { VirtualClock } from '@sluice/runtime';
import { expect, test } from 'vitest';
import { yielding } from './yielding.ts';

test('yields to the event loop every few milliseconds and returns every item', async () => {
  let yields = 0;
  let now = 0;
  const schedule: VirtualClock['schedule'] = (_, callback) => {
    yields++;
    queueMicrotask(callback);
    return () => {};
  };
  const clock = { now: () => 0, monotonic: () => now, schedule } as VirtualClock;
  const items: number[] = [];
  for await (const item of yielding([1, 2, 3, 4, 5, 6, 7], clock)) {
    items.push(item);
    now += 3;
  }
  expect(items).toEqual([1, 2, 3, 4, 5, 6, 7]);
  expect(yields).toBe(2);
});
