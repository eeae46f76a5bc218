import { VirtualClock } from '@sluice/runtime';
import { expect, test } from 'vitest';
import { LogLimit } from './log-limit.ts';

test('allows some lines per minute', () => {
  const clock = new VirtualClock(0);
  const limit = new LogLimit(clock, 2);
  expect([limit.take(), limit.take(), limit.take()]).toEqual([true, true, false]);
  clock.step(60_000);
  expect([limit.take(), limit.take(), limit.take()]).toEqual([true, true, false]);
});
