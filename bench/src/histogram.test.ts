import { expect, it } from 'vitest';
import { histogramOf, merged, percentileIn, sizeOf } from './histogram.ts';
import { percentile } from './statistics.ts';

const values = Array.from({ length: 5_000 }, (_, i) => 0.3 * 1.003 ** (i % 2_000));

it('gives percentiles that are at most 2 % too high', () => {
  const histogram = histogramOf(values);
  for (const share of [0.01, 0.5, 0.9, 0.99, 1]) {
    const ratio = percentileIn(histogram, share) / percentile(values, share);
    expect(ratio).toBeGreaterThan(0.999);
    expect(ratio).toBeLessThan(1.0205);
  }
});

it('is the same whether values are counted together or in parts', () => {
  const parts = [values.slice(0, 700), values.slice(700)].map(histogramOf);
  expect(merged(parts)).toEqual(histogramOf(values));
  expect(sizeOf(merged(parts))).toBe(5_000);
});

it('counts latencies of zero, and has no percentile without values', () => {
  expect(histogramOf([0, 0.004, 5])).toEqual([
    [0.01, 2],
    [5.017, 1],
  ]);
  expect(percentileIn([], 0.5)).toBeNaN();
});
