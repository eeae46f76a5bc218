import { expect, test } from 'vitest';
import { comparePlans, compareStamps, formatServiceKey, parseServiceKey, partitionOf } from './identifiers.ts';

test('a service key round-trips, and other text is rejected (B1, B8)', () => {
  const key = { cluster: '3f1c-uid', namespace: 'shop', service: 'cart' };
  expect(parseServiceKey(formatServiceKey(key))).toEqual(key);
  for (const text of ['', 'a/b', 'a/b/c/d', 'a//c']) expect(() => parseServiceKey(text)).toThrow('expected CLUSTER');
});

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

test('a later epoch outweighs any sequence of an earlier one', () => {
  expect(compareStamps({ epoch: 2, sequence: 1 }, { epoch: 1, sequence: 999 })).toBeGreaterThan(0);
});

test('plans of one epoch are ordered by number', () => {
  expect(comparePlans({ epoch: 1, number: 2 }, { epoch: 1, number: 3 })).toBeLessThan(0);
});
