import { describe, expect, it } from 'vitest';
import { isOlderVersion } from './resource-version.ts';

describe('isOlderVersion', () => {
  it.each([
    ['1', '2', true],
    ['2', '1', false],
    ['2', '2', false],
    ['9', '10', true],
    ['10', '9', false],
    ['9007199254740993', '9007199254740994', true],
    ['', '5', false],
    ['5', '', false],
    ['abc', '5', false],
    ['05', '6', false],
  ])('%s < %s: %s', (a, b, expected) => {
    expect(isOlderVersion(a, b)).toBe(expected);
  });
});
