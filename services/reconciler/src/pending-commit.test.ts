import { VirtualClock } from '@sluice/platform';
import { beforeEach, expect, test } from 'vitest';
import { PendingCommit } from './pending-commit.ts';

const offset = (n: number) => ({ offset: n, id: `${n}`, streamId: 'stream' });

let clock: VirtualClock;
let pending: PendingCommit;

beforeEach(() => {
  clock = new VirtualClock(1_000_030);
  pending = new PendingCommit(clock, 100, 3);
});

const add = (keys: readonly string[], at: number | undefined, records: number) =>
  pending.add(keys, at === undefined ? undefined : offset(at), records, clock.now());

test('nothing is due before there is work', () => {
  expect(pending.deadline).toBeUndefined();
  expect(pending.isDue(clock.now() + 1_000_000)).toBe(false);
  add([], undefined, 0);
  expect(pending.deadline).toBeUndefined();
});

test.each([
  ['a changed Service', ['a'], undefined],
  ['an offset', [], 5],
] as const)('%s is due at the next multiple of the interval, whatever follows', (_, keys, at) => {
  add(keys, at, 1);
  expect(pending.deadline).toBe(1_000_100);
  clock.skipTo(1_000_090);
  add(['b'], 6, 1);
  expect(pending.deadline).toBe(1_000_100);
  expect([1_000_099, 1_000_100].map((now) => pending.isDue(now))).toEqual([false, true]);
});

test('work is due at once with so many records', () => {
  add(['a'], 2, 2);
  expect(pending.isDue(clock.now())).toBe(false);
  add(['a'], 3, 1);
  expect(pending.isDue(clock.now())).toBe(true);
});

test('a commit takes all keys and the last offset, and then waits for new work', () => {
  add(['a', 'b'], 5, 2);
  add(['b', 'c'], undefined, 2);
  expect(pending.drain()).toEqual({ keys: new Set(['a', 'b', 'c']), offset: offset(5) });
  expect(pending.drain()).toEqual({ keys: new Set(), offset: undefined });
  expect(pending.deadline).toBeUndefined();
  add(['a'], undefined, 2);
  expect(pending.isDue(clock.now())).toBe(false);
});

test('a system clock that is set back does not delay the commit by more than the interval', () => {
  pending.clampDeadline(1_000);
  expect(pending.deadline).toBeUndefined();
  add(['a'], 5, 1);
  pending.clampDeadline(1_000_090);
  expect(pending.deadline).toBe(1_000_100);
  pending.clampDeadline(1_000);
  expect(pending.deadline).toBe(1_100);
});
