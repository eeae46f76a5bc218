import { describe, expect, it } from 'vitest';
import type { StringMap } from '../objects/metadata.ts';
import { equalStringMaps, withoutKeys } from './string-maps.ts';

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
