import { aChange, aSnapshot } from '@sluice/service-state/testing';
import { expect, test } from 'vitest';
import { GapDetector } from './gap-detector.ts';

const observe = (gaps: GapDetector, n: number | readonly [number, number], previousSequence: number) =>
  gaps.observe(aChange(n, [], { previousSequence }));

test('consecutive Changes have no gap, nor have repeated or late ones', () => {
  const gaps = new GapDetector();
  expect(observe(gaps, 3, 0)).toBeUndefined();
  expect(observe(gaps, 4, 3)).toBeUndefined();
  expect(observe(gaps, 3, 0)).toBeUndefined();
  expect(observe(gaps, 9, 4)).toBeUndefined();
});

test('a Change that does not follow the last one shows a gap, once', () => {
  const gaps = new GapDetector();
  observe(gaps, 3, 0);
  expect(observe(gaps, 9, 5)).toBe('4..5');
  expect(observe(gaps, 10, 9)).toBeUndefined();
});

test('a new watcher starts from the beginning; a missing beginning is a gap', () => {
  const gaps = new GapDetector();
  observe(gaps, 3, 0);
  expect(observe(gaps, [2, 2], 0)).toBeUndefined();
  expect(observe(gaps, [1, 7], 5)).toBeUndefined();
  expect(observe(gaps, [3, 5], 2)).toBe('1..2');
});

test('a new watcher that continues after the former one shows whether its last Changes arrived', () => {
  const gaps = new GapDetector();
  observe(gaps, [1, 3], 0);
  expect(gaps.observe(aChange([2, 1], [], { previousSequence: 3, previousEpoch: 1 }))).toBeUndefined();
  expect(gaps.observe(aChange([2, 2], [], { previousSequence: 1 }))).toBeUndefined();
  expect(gaps.observe(aChange([3, 1], [], { previousSequence: 5, previousEpoch: 2 }))).toBe('3..5');
});

test('the first Change of a cluster belongs to a snapshot, or something is missing', () => {
  expect(observe(new GapDetector(), 9, 5)).toBe('1..5');
  expect(new GapDetector().observe({ ...aSnapshot(9, []), previousSequence: 5 })).toBeUndefined();
  const unpublishable = aChange(9, [], { previousSequence: 5, unpublishable: 'too large' });
  expect(new GapDetector().observe(unpublishable)).toBeUndefined();
});

test('it continues from what was stored', () => {
  const [before, after] = [new GapDetector(), new GapDetector()];
  observe(before, 3, 0);
  for (const entry of before.drainChanges()) expect(after.load(entry)).toBe(true);
  expect(before.drainChanges()).toEqual([]);
  expect(observe(after, 6, 5)).toBe('4..5');
});

test('it knows which Changes it has seen, also those of former watchers', () => {
  const gaps = new GapDetector();
  expect(gaps.hasSeen(aChange(3, []))).toBe(false);
  observe(gaps, [2, 3], 0);
  expect(gaps.hasSeen(aChange([1, 9], []))).toBe(true);
  expect(gaps.hasSeen(aChange([2, 3], []))).toBe(true);
  expect(gaps.hasSeen(aChange([2, 4], []))).toBe(false);
});

test('after a record that cannot be read, any Change may follow', () => {
  const gaps = new GapDetector();
  observe(gaps, 3, 0);
  gaps.skip('c');
  expect(gaps.drainChanges()).toEqual([{ key: 'c', field: 'lastChange', value: null }]);
  expect(observe(gaps, 9, 5)).toBeUndefined();
  expect(observe(gaps, 12, 11)).toBe('10..11');
});
