import { expect, it } from 'vitest';
import { structurallyEqual } from './structural-equality.ts';

const both = (a: unknown, b: unknown) => [structurallyEqual(a, b), structurallyEqual(b, a)];

it.each<[unknown, unknown]>([
  [1, 1],
  ['a', 'a'],
  [null, undefined],
  [null, []],
  [undefined, {}],
  [[], {}],
  [
    ['a', 'b'],
    ['a', 'b'],
  ],
  [
    { a: 1, b: { c: [2] } },
    { b: { c: [2] }, a: 1 },
  ],
  [{ a: 1, b: null }, { a: 1 }],
  [
    { a: 1, b: [] },
    { a: 1, b: {} },
  ],
  [{ a: [null] }, { a: [undefined] }],
  // A name that every object inherits.
  [{ a: 1, constructor: null }, { a: 1 }],
])('%j equals %j', (a, b) => {
  expect(both(a, b)).toEqual([true, true]);
});

it.each<[unknown, unknown]>([
  [1, 2],
  [0, null],
  ['', null],
  [false, null],
  ['a', []],
  [1, { a: 1 }],
  ['a', ['a']],
  [[1], null],
  [{ a: 1 }, null],
  [['a'], { 0: 'a' }],
  [
    ['a', 'b'],
    ['b', 'a'],
  ],
  [['a'], ['a', 'b']],
  [{ a: 1 }, { a: 2 }],
  [{ a: 1 }, { b: 1 }],
  [{ a: 1 }, { a: 1, b: 2 }],
  [{ a: { b: 1 } }, { a: { b: 2 } }],
])('%j does not equal %j', (a, b) => {
  expect(both(a, b)).toEqual([false, false]);
});
