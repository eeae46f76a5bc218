import { aChange, aSnapshot } from '@sluice/service-state/testing';
import { expect, test } from 'vitest';
import { Heard } from './heard.ts';

const told = (heard: Heard, n: number | readonly [number, number], previousSequence: number) =>
  heard.hear(aChange(n, [], { previousSequence }));

test('Changes that follow one another have no gap, nor have repeated or late ones', () => {
  const heard = new Heard();
  expect(told(heard, 3, 0)).toBe(false);
  expect(told(heard, 4, 3)).toBe(false);
  expect(told(heard, 3, 0)).toBe(false);
  expect(told(heard, 9, 4)).toBe(false);
});

test('one that does not follow shows a gap, once', () => {
  const heard = new Heard();
  told(heard, 3, 0);
  expect(told(heard, 9, 5)).toBe(true);
  expect(told(heard, 10, 9)).toBe(false);
});

test('a new watcher begins anew; that its beginning is missing shows', () => {
  const heard = new Heard();
  told(heard, 3, 0);
  expect(told(heard, [2, 2], 0)).toBe(false);
  expect(told(heard, [1, 7], 5)).toBe(false);
  expect(told(heard, [3, 5], 2)).toBe(true);
});

test('a new watcher that goes on where the one before stopped shows whether its last words were heard', () => {
  const heard = new Heard();
  told(heard, [1, 3], 0);
  expect(heard.hear(aChange([2, 1], [], { previousSequence: 3, previousEpoch: 1 }))).toBe(false);
  expect(heard.hear(aChange([2, 2], [], { previousSequence: 1 }))).toBe(false);
  expect(heard.hear(aChange([3, 1], [], { previousSequence: 5, previousEpoch: 2 }))).toBe(true);
});

test('what is first heard of a cluster is a snapshot, or something is missing', () => {
  expect(told(new Heard(), 9, 5)).toBe(true);
  expect(new Heard().hear({ ...aSnapshot(9, []), previousSequence: 5 })).toBe(false);
});

test('it goes on from what was stored', () => {
  const [before, after] = [new Heard(), new Heard()];
  told(before, 3, 0);
  for (const entry of before.takeChanges()) expect(after.load(entry)).toBe(true);
  expect(before.takeChanges()).toEqual([]);
  expect(told(after, 6, 5)).toBe(true);
});

test('it knows what was here before, also from former watchers', () => {
  const heard = new Heard();
  expect(heard.knows(aChange(3, []))).toBe(false);
  told(heard, [2, 3], 0);
  expect(heard.knows(aChange([1, 9], []))).toBe(true);
  expect(heard.knows(aChange([2, 3], []))).toBe(true);
  expect(heard.knows(aChange([2, 4], []))).toBe(false);
});

test('after something that cannot be read a gap is none', () => {
  const heard = new Heard();
  told(heard, 3, 0);
  heard.forget();
  expect(heard.takeChanges()).toEqual([{ key: 'c', field: 'heard', value: null }]);
  expect(told(heard, 9, 5)).toBe(false);
  expect(told(heard, 12, 11)).toBe(true);
});
