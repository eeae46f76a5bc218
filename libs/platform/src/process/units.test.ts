import { describe, expect, test } from 'vitest';
import { exactDuration, exactSize, formatDuration, parseDuration, parseSize } from './units.ts';

describe('parseDuration', () => {
  test.each([
    ['0', 0],
    ['0s', 0],
    ['500ms', 500],
    ['20s', 20_000],
    ['1.5s', 1_500],
    ['1m30s', 90_000],
    ['1h2m3s4ms', 3_723_004],
    ['2h', 7_200_000],
  ])('%s', (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  test.each(['', '20', 's', '-1s', '1 s', '1d', '20s ', '1.s', '1e3s', 'x20s', '20sx'])(
    '%j is not a duration',
    (text) => {
      expect(parseDuration(text)).toBeUndefined();
    },
  );
});

test.each([
  [0, '0.0 ms'],
  [0.04, '0.0 ms'],
  [9.94, '9.9 ms'],
  [9.96, '10 ms'],
  [12.4, '12 ms'],
  [999.4, '999 ms'],
  [999.6, '1.0 s'],
  [59_940, '59.9 s'],
  [59_960, '60 s'],
  [90_000, '90 s'],
  [119_600, '2m'],
  [3_600_000, '60m'],
  [457_901 * 60_000, '317d'],
])('formatDuration(%d) is %s', (ms, text) => {
  expect(formatDuration(ms)).toBe(text);
});

test.each([
  [0, '0s'],
  [500, '500ms'],
  [90_000, '1m30s'],
  [86_400_000, '24h'],
  [3_723_004, '1h2m3s4ms'],
])('exactDuration(%d) is %s, which parses to the same value', (ms, text) => {
  expect(exactDuration(ms)).toBe(text);
  expect(parseDuration(text)).toBe(ms);
});

test.each([
  ['1Ki', 1024],
  ['64Mi', 64 * 1024 ** 2],
  ['3Gi', 3 * 1024 ** 3],
])('%s is %i bytes, also the other way round', (text, bytes) => {
  expect(parseSize(text)).toBe(bytes);
  expect(exactSize(bytes)).toBe(text);
});

test.each(['', '64', '64MB', '64mi', '-1Mi', '1.5Gi', '1234567Ki'])('"%s" is malformed', (text) => {
  expect(parseSize(text)).toBeUndefined();
});

test('a number of bytes without an exact size in these units has none', () => {
  expect(exactSize(1500)).toBeUndefined();
});
