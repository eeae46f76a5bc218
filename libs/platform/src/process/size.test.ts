import { expect, test } from 'vitest';
import { exactSize, parseSize } from './size.ts';

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
