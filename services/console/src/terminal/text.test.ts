import { expect, test } from 'vitest';
import { causesText, textFormatFor, wrapIndented } from './text.ts';

const format = (width: number) => ({ ...textFormatFor({}, 0), width });

test('text hangs below its first column', () => {
  expect(wrapIndented('12:00  ', 'one two three four five six seven', format(37))).toBe(
    '12:00  one two three four five six\n       seven\n',
  );
});

test('in a narrow terminal it starts below its first column', () => {
  expect(wrapIndented('12:00  ', 'one two three four five six seven', format(36))).toBe(
    '12:00\n    one two three four five six\n    seven\n',
  );
  expect(wrapIndented('  ', 'one two', format(20))).toBe('    one two\n');
});

test('each line is painted, but not its margin; control characters are escaped', () => {
  const paint = (line: string) => `<${line}>`;
  expect(wrapIndented('  ', 'one two three four five six se\u001b[31m', format(32), paint)).toBe(
    '  <one two three four five six>\n  <se\\u001b[31m>\n',
  );
});

test('only a terminal has colors and a width', () => {
  expect(textFormatFor({}, 7)).toMatchObject({ width: Number.POSITIVE_INFINITY, now: 7 });
  expect(textFormatFor({ isTTY: false, columns: 100 }, 0).colors.red('x')).toBe('x');
  expect(textFormatFor({ isTTY: true, columns: 100 }, 0).width).toBe(100);
});

test('causes that are not listed are counted', () => {
  const first = [{ description: 'Pod a deleted' }, { description: 'Pod b deleted' }];
  expect(causesText({ first, more: 0 })).toBe('Pod a deleted, Pod b deleted');
  expect(causesText({ first, more: 1 })).toBe('Pod a deleted, Pod b deleted, 1 more');
  expect(causesText({ first: [], more: 0 })).toBe('');
});
