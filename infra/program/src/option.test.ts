import { UsageError } from '@sluice/platform/process';
import { expect, test } from 'vitest';
import {
  choice,
  flag,
  integer,
  integers,
  optionsHelp,
  positiveNumber,
  selection,
  shares,
  text,
  textOr,
} from './option.ts';
import { parseOptions } from './options.ts';

const options = {
  rounds: integer(5, 'rounds'),
  minutes: positiveNumber(30, 'duration'),
  rates: integers([20, 100], 'flips per second'),
  ratios: shares([0, 0.5], 'sampling ratios'),
  output: choice(['table', 'json'], 'table', 'format'),
  roles: selection(['watcher', 'writer'], 'roles'),
  real: flag('a real API server\ninstead of the fake one'),
  directory: textOr('results', 'DIR', 'folder of the results'),
  profile: text('DIR', 'folder for CPU profiles'),
};

test('missing options have their defaults', () => {
  expect(parseOptions(options, [])).toEqual({
    rounds: 5,
    minutes: 30,
    rates: [20, 100],
    ratios: [0, 0.5],
    output: 'table',
    roles: ['watcher', 'writer'],
    real: false,
    directory: 'results',
    profile: undefined,
  });
});

test('parses each kind of option', () => {
  const args =
    '--rounds 2 --minutes 0.5 --rates 7 --ratios 1 --output json --roles writer --real --directory d --profile p'.split(
      ' ',
    );
  expect(parseOptions(options, args)).toEqual({
    rounds: 2,
    minutes: 0.5,
    rates: [7],
    ratios: [1],
    output: 'json',
    roles: ['writer'],
    real: true,
    directory: 'd',
    profile: 'p',
  });
});

test.each([
  '--rounds 0',
  '--minutes -1',
  '--rates 1,x',
  '--ratios 2',
  '--output xml',
  '--roles reader',
  '--real=1',
  '--none',
  'word',
])('rejects %s', (args) => {
  expect(() => parseOptions(options, args.split(' '))).toThrow(UsageError);
});

test('--help returns help, unless another option is wrong', () => {
  expect(parseOptions(options, ['--help', '--rounds', '2'])).toBe('help');
  expect(() => parseOptions(options, ['--help', '--rounds', '0'])).toThrow(UsageError);
});

test('the help lists each option with its default', () => {
  const { rounds, roles, real } = options;
  expect(optionsHelp({ rounds, roles, real })).toBe(
    [
      '  --rounds N    rounds (5)',
      '  --roles LIST  roles: some of watcher, writer (all)',
      '  --real        a real API server',
      '                instead of the fake one',
      '',
    ].join('\n'),
  );
});
