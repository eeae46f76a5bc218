import { expect, test } from 'vitest';
import { failUnitTests } from '../unit-tests.ts';
import type { Measured } from './measure.ts';
import { formatMeasured, jsonOfMeasured } from './report.ts';

const measured = (file: string, invariant: string | undefined, failsUnitTests?: boolean): Measured => ({
  bug: { name: `a bug in ${file}`, file, search: 'a', replace: 'b' },
  ...{ seeds: 7, seconds: 1.23, invariant, failsUnitTests },
});

test('the share that is found is that of each room and of all', () => {
  const report = formatMeasured([
    measured('libs/bus/src/a.ts', 'bounded staleness'),
    measured('libs/bus/src/b.ts', undefined),
    measured('services/writer/src/a.ts', undefined),
  ]);
  expect(report.split('\n').map((line) => line.replaceAll(/ +/g, ' '))).toEqual([
    '| held-out bug | file | seeds | seconds | invariant |',
    expect.stringMatching(/^\| -+ /),
    '| a bug in libs/bus/src/a.ts | libs/bus/a.ts | 7 | 1.2 | bounded staleness |',
    '| a bug in libs/bus/src/b.ts | libs/bus/b.ts | 7 | 1.2 | not found |',
    '| a bug in services/writer/src/a.ts | services/writer/a.ts | 7 | 1.2 | not found |',
    '',
    '| room | bugs | by seeds |',
    expect.stringMatching(/^\| -+ /),
    '| libs/bus | 2 | 1 (50 %) |',
    '| services/writer | 1 | 0 (0 %) |',
    '| all | 3 | 1 (33 %) |',
  ]);
});

test('a bug that seeds and unit tests find counts once', () => {
  const results = [
    measured('libs/bus/src/a.ts', 'bounded staleness', true),
    measured('libs/bus/src/b.ts', undefined, true),
    measured('libs/bus/src/c.ts', undefined, false),
  ];
  expect(formatMeasured(results)).toMatch(/\| all +\| 3 +\| 1 \(33 %\) +\| 2 \(67 %\) +\|$/);
  expect(JSON.parse(jsonOfMeasured(results))).toMatchObject({
    rates: [{ room: 'libs/bus', bugs: 3, bySeeds: 1, byEither: 2 }, { room: 'all' }],
    bugs: [{ failsUnitTests: true }, { invariant: null }, { failsUnitTests: false }],
  });
});

test('unit tests of a room fail with a bug in it, and pass without', async () => {
  const file = 'libs/messages/src/change.ts';
  const bug = { name: 'b', file, search: 'a.epoch - b.epoch ||', replace: 'b.epoch - a.epoch ||' };
  expect(await failUnitTests('libs/messages', bug)).toBe(true);
  expect(await failUnitTests('libs/messages')).toBe(false);
});
