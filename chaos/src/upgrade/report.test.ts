import { expect, test } from 'vitest';
import { renderUpgrade } from './report.ts';

const report = {
  steps: [
    { what: 'before', fleet: 'old old old', replacedMs: undefined, unownedMs: 0, changes: 9, slowestMs: 80 },
    { what: 'upgrade worker-1', fleet: 'new old old', replacedMs: 2_100, unownedMs: 340, changes: 8, slowestMs: 1_250 },
  ],
  changes: 40,
  writes: 30,
  violations: [],
  evidence: undefined,
};

test('shows each step, and ends with the total', () => {
  expect(renderUpgrade(report)).toBe(
    [
      'step              workers      replaced: s  no owner: s  changes  slowest: s',
      'before            old old old                      0.00        9        0.08',
      'upgrade worker-1  new old old         2.10         0.34        8        1.25',
      '',
      '40 changes, 30 writes, 0 violations',
      '1 passed, 0 failed, 0 skipped',
      '',
    ].join('\n'),
  );
});

test('names violations and where the logs are', () => {
  const violations = [{ what: 'no owner', where: 'writer 3', evidence: 'at the end' }] as const;
  expect(renderUpgrade({ ...report, violations, evidence: '/tmp/logs' })).toContain(
    'VIOLATION no owner: writer 3: at the end\nevidence: /tmp/logs\n0 passed, 1 failed, 0 skipped\n',
  );
});
