import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { problemReasons, problemSeverities } from './problem-reasons.ts';

const text = (ms: number) => (ms < 60_000 ? `${ms / 1_000} s` : `${ms / 60_000} min`);

const runbook = readFileSync(
  new URL('../../../../docs/operations/runbooks/service-problems.md', import.meta.url),
  'utf8',
);

test('the runbook explains each reason, the most severe first', () => {
  const rows = runbook.matchAll(/^\| `(\w+)` +\| (\w+) +\| (\S+ \S+) +\|/gm);
  const explained = Array.from(rows, ([, reason, severity, after]) => [reason, severity, after]);
  const wanted = Object.entries(problemReasons).map(([reason, { severity, afterMs }]) => [
    ...[reason, severity, afterMs === 0 ? expect.stringMatching(/^\d ×$/) : text(afterMs)],
  ]);
  expect(explained).toEqual(wanted);
  const ranks = Object.values(problemReasons).map(({ severity }) => problemSeverities.indexOf(severity));
  expect(ranks).toEqual(ranks.toSorted());
});
