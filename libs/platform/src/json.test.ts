import { expect, test } from 'vitest';
import { exceededLimit, messageLimits, objectLimits } from './json.ts';

const limits = { maxDepth: 3, maxValues: 5 };

function nested(levels: number): unknown {
  return JSON.parse('['.repeat(levels) + ']'.repeat(levels));
}

test('a value at the limits is accepted', () => {
  expect(exceededLimit({ a: [{ b: 1 }] }, limits)).toBeUndefined();
  expect(exceededLimit([1, 2, 3, 4, 5], limits)).toBeUndefined();
  expect(exceededLimit('text', limits)).toBeUndefined();
  expect(exceededLimit(null, limits)).toBeUndefined();
});

test('a value beyond a limit is named', () => {
  expect(exceededLimit({ a: [{ b: [] }] }, limits)).toBe('nested deeper than 3 levels');
  expect(exceededLimit({ a: [1, 2, 3], b: [4] }, limits)).toBe('more than 5 values');
});

test('a million levels do not exhaust the stack', () => {
  expect(exceededLimit(nested(1_000_000), messageLimits)).toBe('nested deeper than 96 levels');
});

test('a message has room for an object at its limit', () => {
  expect(messageLimits.maxDepth).toBeGreaterThanOrEqual(objectLimits.maxDepth + 10);
});
