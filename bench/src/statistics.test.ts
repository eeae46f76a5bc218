import { expect, it } from 'vitest';
import { median, percentile, rounded } from './statistics.ts';

it('computes percentiles by nearest rank', () => {
  const values = Array.from({ length: 100 }, (_, index) => 100 - index);
  expect([0.5, 0.9, 0.99, 1].map((share) => percentile(values, share))).toEqual([50, 90, 99, 100]);
  expect(percentile([7], 0.5)).toBe(7);
  expect(percentile([], 0.5)).toBeNaN();
});

it('computes medians of odd and even numbers of values, ignoring NaN', () => {
  expect(median([3, 1, 2])).toBe(2);
  expect(median([4, 1, 2, 3])).toBe(2.5);
  expect(median([Number.NaN, 5])).toBe(5);
  expect(median([])).toBeNaN();
});

it('rounds for JSON', () => {
  expect(JSON.stringify({ a: [1.23456, 2], b: 'x' }, rounded)).toBe('{"a":[1.235,2],"b":"x"}');
});
