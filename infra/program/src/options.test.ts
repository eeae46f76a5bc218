import { UsageError } from '@sluice/platform/process';
import { expect, test } from 'vitest';
import { parseCommandLine } from './options.ts';

const expected = { options: { rounds: '5', from: undefined, update: false } } as const;

test('a missing option has its default', () => {
  expect(parseCommandLine(expected, ['--from', 'x'])).toEqual({
    options: { rounds: '5', from: 'x', update: false },
    positionals: [],
  });
  expect(parseCommandLine(expected, ['--update', '--rounds=2'])).toEqual({
    options: { rounds: '2', from: undefined, update: true },
    positionals: [],
  });
});

test('--help and -h return help', () => {
  expect(parseCommandLine(expected, ['--help'])).toBe('help');
  expect(parseCommandLine(expected, ['-h'])).toBe('help');
});

test('rejects unknown options, missing or unexpected values and unexpected positional arguments', () => {
  for (const args of [['--round', '2'], ['--rounds'], ['--update=yes'], ['file']]) {
    expect(() => parseCommandLine(expected, args), args.join(' ')).toThrow(UsageError);
  }
});

test('accepts positional arguments if they are allowed', () => {
  expect(parseCommandLine({ ...expected, positionals: true }, ['a', '--update', 'b'])).toMatchObject({
    options: { update: true },
    positionals: ['a', 'b'],
  });
});
