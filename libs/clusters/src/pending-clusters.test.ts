import { VirtualClock } from '@sluice/runtime';
import { advance } from '@sluice/runtime/testing';
import { expect, test } from 'vitest';
import { Latecomers } from './pending-clusters.ts';

test('a cluster that others know is waited for, for a minute, or until all that are named have been reached', async () => {
  const clock = new VirtualClock(1_000);
  const latecomers = new Latecomers(clock);
  expect(latecomers.mayCome('c', true)).toBe(true);
  await advance(clock, 61_000);
  expect(latecomers.mayCome('c', false)).toBe(true);
  expect(latecomers.mayCome('c', true)).toBe(false);
});

test('one that was removed is not waited for, though another cannot be reached; it is once it was here again', () => {
  const latecomers = new Latecomers(new VirtualClock(1_000));
  latecomers.gone('c');
  expect(latecomers.mayCome('c', false)).toBe(false);
  latecomers.came('c');
  expect(latecomers.mayCome('c', true)).toBe(true);
});
