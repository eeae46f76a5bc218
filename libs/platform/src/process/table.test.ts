import { expect, test } from 'vitest';
import { formatFields, formatTable } from './table.ts';
import { columnsOf, wrap, wrapLines } from './wrap.ts';

const headings = ['NAME', 'NEXT TRY', 'REASON'];
const reason = 'the API server refuses the write because a label is missing';

test('without a width, each row is a line', () => {
  expect(formatTable(headings, [['a', 'now', reason]])).toBe(`NAME   NEXT TRY   REASON\na      now        ${reason}\n`);
});

test('a table that is too wide wraps its last column', () => {
  expect(formatTable(headings, [['a', 'now', reason]], 60)).toBe(
    'NAME   NEXT TRY   REASON\n' +
      'a      now        the API server refuses the write because a\n' +
      '                  label is missing\n',
  );
});

test('if little room remains for the last column, each row is a block of labelled values', () => {
  expect(
    formatTable(
      headings,
      [
        ['a', 'now', reason],
        ['b', '', ''],
      ],
      40,
    ),
  ).toBe(
    'Name:      a\n' +
      'Next try:  now\n' +
      'Reason:    the API server refuses the\n' +
      '           write because a label is\n' +
      '           missing\n' +
      '\n' +
      'Name:  b\n',
  );
});

test('a narrow last column does not turn a table into blocks', () => {
  expect(formatTable(['NAME', 'OK'], [['a'.repeat(20), 'yes']], 30)).toBe(
    `NAME                   OK\n${'a'.repeat(20)}   yes\n`,
  );
});

test('fields indent further lines', () => {
  expect(formatFields([['Reason', 'one\ntwo']])).toBe('Reason:  one\n         two\n');
});

test('wrap breaks between words, and keeps longer words whole', () => {
  expect(wrap('one two https://cluster.example three', 9)).toEqual(['one two', 'https://cluster.example', 'three']);
  expect(wrap('', 9)).toEqual(['']);
});

test('wrapped lines keep line breaks and indents, and colours take no room', () => {
  expect(wrapLines('one two three\n  known: a', 9)).toBe('one two\nthree\n  known:\n  a');
  expect(wrapLines('  one  two\nthree', 60)).toBe('  one  two\nthree');
  expect(wrapLines('\u001b[31merror:\u001b[39m one', 10)).toBe('\u001b[31merror:\u001b[39m one');
});

test('a terminal has at least 60 columns, a pipe has no limit', () => {
  expect(columnsOf({ isTTY: true, columns: 40 })).toBe(60);
  expect(columnsOf({ isTTY: true, columns: 120 })).toBe(120);
  expect(columnsOf({})).toBe(Number.POSITIVE_INFINITY);
});
