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

test('a Change of a watcher that numbers nothing shows no gap and is not remembered', () => {
  const gaps = new GapDetector();
  expect(gaps.observe(aChange(9, []))).toBeUndefined();
  expect(gaps.drainChanges()).toEqual([]);
  expect(gaps.hasSeen(aChange(9, []))).toBe(false);
});

test('clusters are independent of each other', () => {
  const gaps = new GapDetector();
  const other = { key: { cluster: 'other', namespace: 'shop', service: 'web' } };
  observe(gaps, 3, 0);
  expect(gaps.observe(aChange(2, [], { ...other, previousSequence: 0 }))).toBeUndefined();
  expect(observe(gaps, 4, 3)).toBeUndefined();
  gaps.removeCluster('other');
  expect(gaps.hasSeen(aChange(3, []))).toBe(true);
});

test('nothing of a cluster with an open gap is stored until the gap is closed', () => {
  const gaps = new GapDetector();
  observe(gaps, 3, 0);
  gaps.open('c');
  expect(gaps.drainChanges()).toEqual([]);
  gaps.close('c');
  expect(gaps.drainChanges()).toEqual([{ key: 'c', field: 'lastChange', value: { epoch: 1, sequence: 3 } }]);
});

test('a removed cluster is removed from the store even if it has an open gap', () => {
  const gaps = new GapDetector();
  gaps.removeCluster('c');
  expect(gaps.drainChanges()).toEqual([]);
  observe(gaps, 3, 0);
  gaps.open('c');
  gaps.removeCluster('c');
  expect(gaps.drainChanges()).toEqual([{ key: 'c', field: 'lastChange', value: undefined }]);
});

test('of a removed cluster, the loss of what is published next shows', () => {
  const snapshot = (n: number, previousSequence: number) => ({ ...aSnapshot(n, []), previousSequence });
  const [lost, found] = [new GapDetector(), new GapDetector()];
  for (const gaps of [lost, found]) {
    observe(gaps, 3, 0);
    gaps.removeCluster('c');
    expect(gaps.drainChanges()).toEqual([{ key: 'c', field: 'lastChange', value: undefined }]);
  }
  expect(lost.observe(snapshot(5, 4))).toBe('1..4');
  expect(found.observe(snapshot(4, 0))).toBeUndefined();
  expect(found.observe(snapshot(5, 4))).toBeUndefined();
  expect(found.drainChanges()).toMatchObject([{ value: { sequence: 5 } }]);
});

test('only a later watcher has published after an epoch', () => {
  const gaps = new GapDetector();
  expect(gaps.hasSeenEpochAfter('c', 0)).toBe(false);
  observe(gaps, [2, 3], 0);
  expect([1, 2, 3].map((epoch) => gaps.hasSeenEpochAfter('c', epoch))).toEqual([true, false, false]);
  gaps.drainChanges();
  gaps.skip('c');
  expect(gaps.drainChanges()).toMatchObject([{ value: null }]);
  expect(gaps.hasSeenEpochAfter('c', 1)).toBe(false);
  expect(gaps.hasSeen(aChange([1, 1], []))).toBe(false);
});

test('an unreadable record of an unknown cluster needs no exception', () => {
  const gaps = new GapDetector();
  gaps.skip('c');
  expect(gaps.drainChanges()).toEqual([]);
  expect(observe(gaps, 9, 5)).toBe('1..5');
});

test('only valid entries of its own field are loaded, and all are cleared', () => {
  const gaps = new GapDetector();
  expect(gaps.load({ key: 'c', field: 'service', value: null })).toBe(false);
  expect(() => gaps.load({ key: 'c', field: 'lastChange', value: { epoch: 1 } })).toThrow(TypeError);
  expect(gaps.load({ key: 'c', field: 'lastChange', value: { epoch: 1, sequence: 3 } })).toBe(true);
  expect(gaps.load({ key: 'd', field: 'lastChange', value: null })).toBe(true);
  observe(gaps, 4, 3);
  gaps.clear();
  expect(gaps.hasSeen(aChange(3, []))).toBe(false);
  expect(gaps.drainChanges()).toEqual([]);
});
