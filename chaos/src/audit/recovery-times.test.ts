import { expect, test } from 'vitest';
import { RecoveryTimes } from './recovery-times.ts';

test('lasts until the last change just after the action is observed', () => {
  const healing = new RecoveryTimes();
  healing.flipped('a', false, 110);
  healing.flipped('b', false, 400);
  healing.flipped('c', false, 700);
  healing.observed('a', false, 1_100);
  expect(healing.after(100)).toBeUndefined();
  healing.observed('b', false, 1_600);
  expect(healing.after(100)).toBe(1_500);
});

test('includes changes pending at the action, not those observed before', () => {
  const healing = new RecoveryTimes();
  healing.flipped('a', false, 10);
  healing.observed('a', false, 50);
  expect(healing.after(100)).toBeUndefined();
  healing.flipped('b', false, 20);
  healing.observed('b', false, 900);
  expect(healing.after(100)).toBe(800);
});

test('ignores repeated and unchanged observations', () => {
  const healing = new RecoveryTimes();
  healing.flipped('a', false, 110);
  healing.observed('a', true, 120);
  expect(healing.isPending('a')).toBe(true);
  healing.observed('a', false, 200);
  expect(healing.isPending('a')).toBe(false);
  healing.observed('a', false, 900);
  expect(healing.after(100)).toBe(100);
});

test('counts the changes of a period, the slowest of them and those that nothing has shown', () => {
  const times = new RecoveryTimes();
  times.flipped('a', false, 100);
  times.flipped('b', false, 200);
  times.flipped('c', false, 900);
  times.flipped('d', false, 300);
  times.observed('a', false, 1_100);
  times.observed('b', false, 250);
  times.observed('c', false, 5_000);
  expect(times.between(100, 900)).toEqual({ count: 3, unseen: 1, slowestMs: 1_000 });
  expect(times.between(10_000, 20_000)).toEqual({ count: 0, unseen: 0, slowestMs: 0 });
});
