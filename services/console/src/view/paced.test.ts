import { VirtualClock } from '@sluice/runtime';
import { expect, test } from 'vitest';
import { paced } from './paced.ts';

test('lets others in after some milliseconds, and leaves nothing out', async () => {
  const clock = new VirtualClock(0);
  let turns = 0;
  // Each item takes 3 ms, and whoever waits for the clock has his turn.
  const schedule: typeof clock.schedule = (_, callback) => {
    turns++;
    queueMicrotask(callback);
    return () => {};
  };
  let now = 0;
  const busy = { now: () => 0, monotonic: () => now, schedule } as typeof clock;
  const seen: number[] = [];
  for await (const item of paced([1, 2, 3, 4, 5, 6, 7], busy)) {
    seen.push(item);
    now += 3;
  }
  expect(seen).toEqual([1, 2, 3, 4, 5, 6, 7]);
  expect(turns).toBe(2);
});
