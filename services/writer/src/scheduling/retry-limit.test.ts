import { VirtualClock } from '@sluice/platform';
import { beforeEach, expect, test } from 'vitest';
import { RetryLimit } from './retry-limit.ts';

let clock: VirtualClock;
let delayed: number;
let limit: RetryLimit;

beforeEach(() => {
  clock = new VirtualClock();
  delayed = 0;
  limit = new RetryLimit({ perSecond: 10, clock, onDelayed: () => delayed++ });
});

test('the burst passes, then one retry in a tenth of a second, as upstream (B3)', () => {
  const waits = Array.from({ length: 1_000 }, () => limit.reserve());
  expect(waits.slice(0, 100)).toEqual(Array(100).fill(0));
  expect(waits.slice(100, 103)).toEqual([100, 200, 300]);
  expect(waits.at(-1)).toBe(90_000);
  expect(delayed).toBe(900);
});

test('a retry of the writer takes a token only if there is one', () => {
  for (let i = 0; i < 100; i++) expect(limit.tryAcquire()).toBe(true);
  for (let i = 0; i < 5; i++) expect(limit.tryAcquire()).toBe(false);
  clock.skipTo(clock.now() + 100);
  expect([limit.tryAcquire(), limit.tryAcquire()]).toEqual([true, false]);
  expect(limit.reserve()).toBe(100);
});

test('the burst fills again', () => {
  for (let i = 0; i < 300; i++) limit.reserve();
  clock.skipTo(clock.now() + 60_000);
  expect(Array.from({ length: 101 }, () => limit.reserve())).toEqual([...Array(100).fill(0), 100]);
});
