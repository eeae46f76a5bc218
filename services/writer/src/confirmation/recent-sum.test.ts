import { expect, test } from 'vitest';
import { RecentSum } from './recent-sum.ts';

test('sums the samples within the window', () => {
  const sum = new RecentSum(60_000);
  expect(sum.add(5, 0)).toBe(5);
  expect(sum.add(3, 500)).toBe(8);
  expect(sum.add(2, 30_000)).toBe(10);
  expect(sum.add(0, 59_000)).toBe(10);
  expect(sum.add(0, 61_000)).toBe(2);
  expect(sum.add(1, 500_000)).toBe(1);
});
