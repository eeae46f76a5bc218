import { expect, test } from 'vitest';
import { compareResourceVersions } from './objects.ts';

test.each([
  ['9', '10', -1],
  ['10', '9', 1],
  ['10', '10', 0],
  ['010', '10', 0],
  ['99999999999999999999', '100000000000000000000', -1],
  ['', '0', 0],
  ['', '1', -1],
  ['abc', '1', -1],
  ['abc', '', 0],
  ['a1', '1', -1],
  ['1a', '1', -1],
  ['0010', '10', 0],
  ['2', '1', 1],
])('compares resourceVersion %j with %j', (a, b, sign) => {
  expect(Math.sign(compareResourceVersions(a, b))).toBe(sign);
});
