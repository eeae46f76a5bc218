import { expect, test } from 'vitest';
import { ranges } from './ranges.ts';

test.each([
  [['3', '0', '1', '2', '10', '7'], '0-3,7,10'],
  [['5'], '5'],
  [['cluster'], 'cluster'],
  [Array.from({ length: 12 }, (_, i) => `c${i}`), 'c0,c1,c2,c3,c4,c5,c6,c7,c8,c9 and 2 more'],
  [[], ''],
])('%j are %s', (scopes, text) => {
  expect(ranges(scopes)).toBe(text);
});
