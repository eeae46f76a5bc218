import { UsageError } from '@sluice/process';
import { expect, test } from 'vitest';
import { parseCommandLine } from './options.ts';

const expected = { options: { rounds: '5', from: undefined, update: false } } as const;

test('what is not given has its default', () => {
  expect(parseCommandLine(expected, ['--from', 'x'])).toEqual({
    options: { rounds: '5', from: 'x', update: false },
    positionals: [],
  });
  expect(parseCommandLine(expected, ['--update', '--rounds=2'])).toEqual({
    options: { rounds: '2', from: undefined, update: true },
    positionals: [],
  });
});

test('asks for the help in both spellings', () => {
  expect(parseCommandLine(expected, ['--help'])).toBe('help');
  expect(parseCommandLine(expected, ['-h'])).toBe('help');
});

test('refuses an option that there is not, a value too few, and a word too many', () => {
  for (const args of [['--round', '2'], ['--rounds'], ['--update=yes'], ['file']]) {
    expect(() => parseCommandLine(expected, args), args.join(' ')).toThrow(UsageError);
  }
});

test('takes words where some are expected', () => {
  expect(parseCommandLine({ ...expected, positionals: true }, ['a', '--update', 'b'])).toMatchObject({
    options: { update: true },
    positionals: ['a', 'b'],
  });
});
