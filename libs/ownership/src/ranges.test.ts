import { expect, test } from 'vitest';
import { ranges } from './ranges.ts';

test.each([
  [['3', '0', '1', '2', '10', '7'], '0-3,7,10'],
  [['5'], '5'],
  [['cluster'], 'cluster'],
  [[], ''],
])('%j are %s', (scopes, text) => {
  expect(ranges(scopes)).toBe(text);
});
