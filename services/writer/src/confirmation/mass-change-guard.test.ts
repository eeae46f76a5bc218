import { expect, test } from 'vitest';
import { DropFromPeak, RecentSum } from './mass-change-guard.ts';

test('sums the samples within the window', () => {
  const sum = new RecentSum(60_000);
  expect(sum.add(5, 0)).toBe(5);
  expect(sum.add(3, 500)).toBe(8);
  expect(sum.add(2, 30_000)).toBe(10);
  expect(sum.add(0, 59_000)).toBe(10);
  expect(sum.add(0, 61_000)).toBe(2);
  expect(sum.add(1, 500_000)).toBe(1);
});

test('measures the drop within the window, whatever the level rose before', () => {
  const drop = new DropFromPeak(100);
  expect(drop.add(50, 0)).toBe(0);
  expect(drop.add(-10, 10)).toBe(10);
  expect(drop.add(-10, 20)).toBe(20);
  expect(drop.add(5, 30)).toBe(15);
});

test('forgets a drop that is older than the window, even after a period without samples', () => {
  const drop = new DropFromPeak(100);
  drop.add(-10, 0);
  expect(drop.add(-1, 90)).toBe(11);
  expect(drop.add(-1, 250)).toBe(1);
  expect(drop.add(-1, 300)).toBe(2);
});

test('stays small for a level that alternates', () => {
  const drop = new DropFromPeak(1_000);
  for (let i = 0; i < 500; i++) {
    expect(drop.add(-1, i)).toBe(1);
    expect(drop.add(1, i)).toBe(0);
  }
});
