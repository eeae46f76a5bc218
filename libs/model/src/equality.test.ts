import { describe, expect, it } from 'vitest';
import { equalStringMaps, structurallyEqual, withoutKeys } from './equality.ts';
import type { StringMap } from './objects.ts';

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

/** The map as if read from JSON by a library whose maps inherit. */
const inheriting = (map: StringMap): StringMap => Object.assign(Object.create({ inherited: 'x' }), map);

describe('string maps', () => {
  it.each<[StringMap | undefined, StringMap | undefined]>([
    [undefined, undefined],
    [undefined, {}],
    [{ a: '1' }, { a: '1' }],
    [
      { a: '1', b: '2' },
      { b: '2', a: '1' },
    ],
    [inheriting({ a: '1' }), { a: '1' }],
  ])('are equal: %j and %j', (a, b) => {
    expect([equalStringMaps(a, b), equalStringMaps(b, a)]).toEqual([true, true]);
  });

  it.each<[StringMap | undefined, StringMap | undefined]>([
    [undefined, { a: '1' }],
    [{ a: '1' }, { a: '2' }],
    [{ a: '1' }, { b: '1' }],
    [{ a: '1' }, { a: '1', b: '2' }],
    [inheriting({}), { inherited: 'x' }],
  ])('differ: %j and %j', (a, b) => {
    expect([equalStringMaps(a, b), equalStringMaps(b, a)]).toEqual([false, false]);
  });
});

describe('a map without keys', () => {
  const map = { a: '1', b: '2' };

  it('lacks those that it has', () => {
    expect(withoutKeys(map, ['b', 'c'])).toEqual({ a: '1' });
    expect(withoutKeys(map, ['a', 'b'])).toEqual({});
    expect(withoutKeys(undefined, ['a'])).toEqual({});
  });

  it('is the map itself if it has none of them', () => {
    expect(withoutKeys(map, ['c', 'constructor'])).toBe(map);
  });
});
