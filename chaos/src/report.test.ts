import { expect, test } from 'vitest';
import { jsonReport, type Report, renderReport } from './report.ts';

const report: Report = {
  options: {
    actions: 3,
    freezesOnly: false,
    seed: 5,
    bus: 'nats',
    processes: 'roles',
    clusters: 2,
    natsNodes: 1,
    sentinel: false,
    rate: 50,
    partitions: 16,
    pauseMs: 1_500,
    upgradeFrom: undefined,
    output: 'table',
    directory: undefined,
  },
  done: [
    { kind: 'kill writer', recoveredMs: 1_000 },
    { kind: 'kill writer', recoveredMs: 2_000 },
    { kind: 'purge bus', recoveredMs: undefined },
  ],
  ranMs: 10_000,
  changes: 500,
  writes: [400, 300],
  rejected: 3,
  plans: 690,
  fenced: 2,
  crashed: 0,
  convergencePoints: [{ afterActions: 3, ms: 1_500 }],
  violations: [],
  evidence: undefined,
};

test('shows actions by kind, figures and the command to repeat the run', () => {
  const text = renderReport(report);
  expect(text).toContain('| kill writer |     2 |               1.50 |  2.00 |');
  expect(text).toContain('| purge bus   |     1 |                  – |     – |');
  expect(text).toContain('3 actions in 10.00 s, 500 changes (50.0 per second)');
  expect(text).toContain('2 clusters, one NATS server, one Redis');
  expect(text).toContain('400 + 300 writes by 690 plans; 3 rejected');
  expect(text).toContain('0 × lost change, 0 × unplanned write, 0 × crossed clusters, 0 × applied twice');
  expect(text).toContain('npm run chaos -- --actions 3 --seed 5');
  expect(text).not.toContain('VIOLATION');
});

test('shows what went wrong, where, and where the evidence is', () => {
  const violations = Array.from({ length: 21 }, (_, i) => ({
    what: 'applied twice' as const,
    where: `endpointslices shop/web-${i}`,
    evidence: 'plan 1/2 again',
  }));
  const text = renderReport({ ...report, violations, evidence: '/evidence' });
  expect(text).toContain('21 × applied twice');
  expect(text).toContain('VIOLATION applied twice: endpointslices shop/web-0: plan 1/2 again');
  expect(text).toContain('and 1 more');
  expect(text).toContain('evidence: /evidence');
});

test('names the other version of a mixed fleet', () => {
  const text = renderReport({ ...report, options: { ...report.options, upgradeFrom: '/old' } });
  expect(text).toContain('one Redis, two versions of Sluice: this one and /old');
  expect(text).toContain('--seed 5 --upgrade-from /old');
});

test('is available as JSON', () => {
  expect(JSON.parse(jsonReport(report))).toMatchObject({
    command: 'npm run chaos -- --actions 3 --seed 5',
    writes: [400, 300],
    violations: [],
    actions: [{ kind: 'kill writer', recoveredMs: 1_000 }, { recoveredMs: 2_000 }, { kind: 'purge bus' }],
  });
});
