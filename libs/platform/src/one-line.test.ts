import { expect, test } from 'vitest';
import { oneLine } from './one-line.ts';

test.each([
  ['a line', 'a line'],
  ['a  line ', 'a  line '],
  ['two\nlines', 'two lines'],
  ['two \r\n\t lines', 'two lines'],
  ['a\n \n\nb', 'a b'],
  ['\u2028a\u2029', ' a '],
  ['', ''],
])('%j becomes %j', (text, expected) => {
  expect(oneLine(text)).toBe(expected);
});

test('a megabyte of spaces ends', () => {
  expect(oneLine(`${' '.repeat(1_000_000)}x`)).toHaveLength(1_000_001);
});
