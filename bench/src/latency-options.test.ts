import { UsageError } from '@sluice/platform/process';
import { describe, expect, it } from 'vitest';
import { HELP, parseLatencyOptions } from './latency-options.ts';

describe('options of the latency bench', () => {
  it('have defaults', () => {
    expect(parseLatencyOptions([])).toMatchObject({
      shape: { services: 100, pods: 20, namespaces: 50 },
      rates: [20, 100],
      seconds: 10,
      rounds: 5,
      output: 'table',
      fsync: false,
    });
  });

  it('select rates, controllers and outputs', () => {
    const options = parseLatencyOptions([
      '--rates',
      '5, 10',
      '--controllers',
      'kcm,sluice',
      '--output',
      'markdown',
      '--services',
      '1',
    ]);
    expect(options).toMatchObject({ rates: [5, 10], output: 'markdown', shape: { services: 1 } });
    expect(options !== 'help' && options.controllers.map(({ name }) => name)).toEqual(['kcm', 'sluice']);
    expect(parseLatencyOptions(['--rates', 'none'])).toMatchObject({ rates: [] });
    expect(parseLatencyOptions(['--help', '--pods', '3'])).toBe('help');
  });

  it.each([
    ['--pods', '0'],
    ['--seconds', '1.5'],
    ['--rates', '20,x'],
    ['--controllers', 'sluice,other'],
    ['--output', 'xml'],
    ['--unknown', '1'],
  ])('reject %s %s', (...args) => {
    expect(() => parseLatencyOptions(args)).toThrow(UsageError);
  });

  it('have a help text of at most 120 columns', () => {
    expect(HELP.split('\n').filter((line) => line.length > 120)).toEqual([]);
  });
});
