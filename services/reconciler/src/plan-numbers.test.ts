import { expect, test } from 'vitest';
import { PlanNumbers } from './plan-numbers.ts';

const key = 'partition';

test('a plan has the number after the last one, and is published up to a number', () => {
  const numbers = new PlanNumbers();
  expect([numbers.last, numbers.next]).toEqual([0, 1]);
  numbers.advance();
  numbers.advance();
  expect([numbers.last, numbers.next]).toEqual([2, 3]);
  numbers.markPublished(1);
  expect([1, 2].map((number) => numbers.isPublished(number))).toEqual([true, false]);
});

test('changed numbers are stored once, and the next owner continues after them', () => {
  const [before, after] = [new PlanNumbers(), new PlanNumbers()];
  expect(before.drainChanges()).toEqual([]);
  for (let i = 0; i < 3; i++) before.advance();
  before.markPublished(2);
  const stored = before.drainChanges();
  expect(stored).toEqual([
    { key, field: 'lastPlan', value: 3 },
    { key, field: 'publishedPlan', value: 2 },
  ]);
  expect(before.drainChanges()).toEqual([]);
  for (const entry of stored) expect(after.load(entry)).toBe(true);
  expect([after.next, after.isPublished(2), after.isPublished(3)]).toEqual([4, true, false]);
  expect(after.drainChanges()).toEqual([]);
});

test('only valid entries of the partition are loaded, and all are cleared', () => {
  const numbers = new PlanNumbers();
  expect(numbers.load({ key: 'c/shop/web', field: 'lastPlan', value: 5 })).toBe(false);
  expect(numbers.load({ key, field: 'another', value: 5 })).toBe(false);
  for (const value of ['5', 1.5, null]) {
    expect(() => numbers.load({ key, field: 'lastPlan', value })).toThrow(TypeError);
  }
  numbers.load({ key, field: 'lastPlan', value: 5 });
  numbers.load({ key, field: 'publishedPlan', value: 5 });
  numbers.clear();
  expect([numbers.next, numbers.isPublished(1)]).toEqual([1, false]);
  numbers.advance();
  numbers.markPublished(1);
  expect(numbers.drainChanges().map(({ field }) => field)).toEqual(['lastPlan', 'publishedPlan']);
});
