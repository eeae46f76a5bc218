import { expect, test } from 'vitest';
import { printable, printableLine } from './printable.ts';
import { formatFields, formatTable } from './table.ts';

const hostile = 'v1.36\u001b]0;title\u0007\u009b2J\u202e';
const escaped = 'v1.36\\u001b]0;title\\u0007\\u009b2J\\u202e';

test('escapes control and direction characters, and keeps line breaks', () => {
  expect(printable(hostile)).toBe(escaped);
  expect(printable('two\n\tlines, ü')).toBe('two\n\tlines, ü');
});

test('puts text on one line', () => {
  expect(printableLine('a\n  b\tc\r\u001b')).toBe('a b c\\u000d\\u001b');
});

test('tables and fields contain nothing that a terminal interprets', () => {
  expect(formatTable(['NAME', 'VERSION'], [['a\nb   ok', hostile]])).toBe(
    `NAME       VERSION\na b   ok   ${escaped}\n`,
  );
  expect(formatFields([['Version', hostile]])).toBe(`Version:  ${escaped}\n`);
});
