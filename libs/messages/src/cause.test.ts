import { expect, test } from 'vitest';
import { type Causes, maxCauses, mergeCauses, noCauses } from './cause.ts';

test('mergeCauses keeps the earliest causes and counts the rest', () => {
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
