import { expect, test } from 'vitest';
import { partitionOf } from './partition-of.ts';

test('the partition of a key never changes', () => {
  // Stored state depends on it: another function would route a Service's Changes to a partition without its state.
  expect(['c/ns/a', 'c/ns/b', 'c1/default/kubernetes', ''].map((key) => partitionOf(key, 64))).toMatchInlineSnapshot(`
    [
      48,
      41,
      17,
      11,
    ]
  `);
});

test('keys that differ in their last characters spread over all partitions', () => {
  const counts = new Array<number>(64).fill(0);
  for (let i = 0; i < 6_400; i++) {
    const partition = partitionOf(`3f1c/shop/service-${i}`, 64);
    counts[partition] = (counts[partition] ?? 0) + 1;
  }
  expect(Math.min(...counts)).toBeGreaterThan(50);
  expect(Math.max(...counts)).toBeLessThan(160);
});
