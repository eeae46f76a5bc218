import { expect, test } from 'vitest';
import type { HistoryView } from '../../src/view/schemas.ts';
import { adjacentTime } from './adjacent-time.ts';

const entries = [1_000.2, 1_000.7, 2_000.4].map((at) => ({ at })) as unknown as HistoryView['entries'];

test('steps between entries in whole milliseconds, rounded up, and ends at now', () => {
  expect(adjacentTime(entries, undefined, -1)).toBe(2_001);
  expect(adjacentTime(entries, 2_001, -1)).toBe(1_001);
  expect(adjacentTime(entries, 1_001, -1)).toBe(1_001);
  expect(adjacentTime(entries, 1_001, 1)).toBe(2_001);
  expect(adjacentTime(entries, 2_001, 1)).toBeUndefined();
  expect(adjacentTime([], undefined, -1)).toBeUndefined();
});
