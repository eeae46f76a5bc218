import colors from 'picocolors';
import { expect, test } from 'vitest';
import { printRollout } from './print-rollout.ts';

const at = (seconds: number) => Date.parse('2026-01-01T12:00:00') + seconds * 1_000;
const format = { width: 42, now: at(0), colors: colors.createColors(false) };
const span = (from: number, to: number | null, state: 'ready' | 'not ready' | 'terminating' | 'unknown') => ({
  ...{ from: at(from), to: to === null ? null : at(to), state },
});

test('each Pod is a belt below its owner, and a short state is not lost', () => {
  const pods = [
    {
      ...{ pod: 'web-5d9-a', owner: 'ReplicaSet web-5d9' },
      spans: [
        span(0, 100, 'ready'),
        span(100, 101, 'not ready'),
        span(101, 150, 'ready'),
        span(150, 180, 'terminating'),
      ],
    },
    { pod: 'web-5d9-b', owner: 'ReplicaSet web-5d9', spans: [span(0, 60, 'ready'), span(60, 90, 'unknown')] },
    { pod: 'web-7f4-c', owner: 'ReplicaSet web-7f4', spans: [span(110, 140, 'not ready'), span(140, null, 'ready')] },
    { pod: 'old\u001b[1m', owner: '', spans: [span(0, null, 'ready')] },
  ];
  const lines = printRollout('Service shop/web in prod', { from: at(0), to: at(290), pods }, format).split('\n');
  expect(lines).toEqual([
    'Service shop/web in prod',
    '█ ready, ? unknown, ░ terminating, ▒ not',
    'ready',
    'ReplicaSet web-5d9',
    '  web-5d9-a     ████████▒▒███░░░░         ',
    '  web-5d9-b     █████????                 ',
    'ReplicaSet web-7f4',
    '  web-7f4-c              ▒▒▒▒█████████████',
    'no owner recorded',
    '  old\\u001b[1m  ██████████████████████████',
    '                12:00:00.000  12:04:50.000',
    '',
  ]);
});

test('a pipe gets belts of a hundred cells', () => {
  const pods = [{ pod: 'web-1', owner: '', spans: [span(0, null, 'ready')] }];
  const text = printRollout('web', { from: at(0), to: at(60), pods }, { ...format, width: Number.POSITIVE_INFINITY });
  expect(text).toContain(`  web-1  ${'█'.repeat(100)}\n`);
});
