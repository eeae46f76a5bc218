import { expect, test } from 'vitest';
import { type Causes, maxCauses, mergeCauses, noCauses } from './cause.ts';
import { comparePlans } from './planned-mutations.ts';
import { formatServiceKey, parseServiceKey } from './service-key.ts';
import { compareStamps } from './stamp.ts';

test('a later epoch outweighs any count of an earlier one', () => {
  expect(compareStamps({ epoch: 2, sequence: 1 }, { epoch: 1, sequence: 999 })).toBeGreaterThan(0);
  expect(comparePlans({ epoch: 1, number: 2 }, { epoch: 1, number: 3 })).toBeLessThan(0);
});

test('a service key reads back as it was written, and nothing else is one (B1, B8)', () => {
  const key = { cluster: '3f1c-uid', namespace: 'shop', service: 'cart' };
  expect(parseServiceKey(formatServiceKey(key))).toEqual(key);
  for (const text of ['', 'a/b', 'a/b/c/d', 'a//c']) expect(() => parseServiceKey(text)).toThrow('expected CLUSTER');
});

test('merged causes keep the earliest by name and count the rest', () => {
  const at = (from: number, count: number): Causes => ({
    first: Array.from({ length: count }, (_, i) => ({ description: `${from + i}`, observedAt: from + i })),
    more: 0,
  });
  const merged = mergeCauses(at(100, maxCauses), at(1, 2));
  expect(merged.first.map(({ description }) => description).slice(0, 3)).toEqual(['1', '2', '100']);
  expect(merged.first).toHaveLength(maxCauses);
  expect(merged.more).toBe(2);
  expect(mergeCauses(noCauses, merged)).toBe(merged);
});
