import { expect, it } from 'vitest';
import { charactersOf } from './executed-code.ts';

const range = (startOffset: number, endOffset: number, count: number) => ({ startOffset, endOffset, count });

it('counts a function as often as it runs', () => {
  expect(charactersOf([range(0, 10, 3)])).toBe(30);
});

it('counts inner blocks by their own count', () => {
  const loop = range(4, 6, 100);
  expect(charactersOf([range(0, 10, 1), loop, range(8, 9, 0)])).toBe(7 + 200);
});

it('counts functions that lie within or behind others, in any order', () => {
  expect(charactersOf([range(20, 30, 2), range(5, 8, 4), range(0, 10, 1)])).toBe(7 + 12 + 20);
});
