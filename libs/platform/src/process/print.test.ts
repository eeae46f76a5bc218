import fc from 'fast-check';
import { expect, test } from 'vitest';
import { print } from './print.ts';
import { printable, printableInColor } from './printable.ts';

const interpreted = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;
const unit = fc.constantFrom(...'\u001b\u0000\u0007\r\n\t\u007f\u0085\u009b\u202e\u2028\u2066[0m31"\\aü');
const text = fc.string({ unit });

test('printed text contains nothing that a terminal interprets, except line breaks and tabs', () => {
  fc.assert(
    fc.property(text, (given) => {
      const all = printable(given).match(interpreted) ?? [];
      expect(all.filter((character) => character !== '\n' && character !== '\t')).toEqual([]);
    }),
  );
});

test('printed JSON stays valid and keeps its value', () => {
  fc.assert(
    fc.property(fc.dictionary(text, text), (value) => {
      expect(JSON.parse(printable(JSON.stringify(value)))).toEqual(value);
    }),
  );
});

test('colors stay, other codes of a terminal do not', () => {
  expect(printableInColor('\u001b[31mred\u001b[39m \u001b[8mhidden\u001b[2J\u001b]0;title\u0007\u009b31m')).toBe(
    '\u001b[31mred\u001b[39m \\u001b[8mhidden\\u001b[2J\\u001b]0;title\\u0007\\u009b31m',
  );
});

test('print escapes, and says when it is written', () => {
  const written: string[] = [];
  let done = false;
  const output = {
    write(given: string, then?: () => void) {
      written.push(given);
      then?.();
    },
  };
  print(output, 'x\u009b2J\n', () => {
    done = true;
  });
  expect({ written, done }).toEqual({ written: ['x\\u009b2J\n'], done: true });
});
