import { expect, test } from 'vitest';
import type { HistoryView } from '../../src/view/schemas.ts';
import { neighbour } from './neighbour.ts';

const entries = [1_000.2, 1_000.7, 2_000.4].map((at) => ({ at })) as unknown as HistoryView['entries'];

test('steps go from change to change in whole milliseconds, at which each has happened, and end at now', () => {
  expect(neighbour(entries, undefined, -1)).toBe(2_001);
  expect(neighbour(entries, 2_001, -1)).toBe(1_001);
  expect(neighbour(entries, 1_001, -1)).toBe(1_001);
  expect(neighbour(entries, 1_001, 1)).toBe(2_001);
  expect(neighbour(entries, 2_001, 1)).toBeUndefined();
  expect(neighbour([], undefined, -1)).toBeUndefined();
});
