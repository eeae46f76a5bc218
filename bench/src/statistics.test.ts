import { expect, it } from 'vitest';
import { median, percentile, reliablePercentile, rounded } from './statistics.ts';

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

it('reports a percentile only if ten samples lie above it', () => {
  const values = (count: number) => Array.from({ length: count }, (_, index) => index + 1);
  expect(reliablePercentile(values(999), 0.99)).toBeNaN();
  expect(reliablePercentile(values(1_000), 0.99)).toBe(990);
  expect(reliablePercentile(values(99), 0.9)).toBeNaN();
  expect(reliablePercentile(values(100), 0.9)).toBe(90);
  expect(reliablePercentile(values(3), 1)).toBe(3);
});
