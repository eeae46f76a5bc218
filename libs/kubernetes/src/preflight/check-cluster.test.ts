import { expect, test } from 'vitest';
import { versionCheck } from './check-cluster.ts';
import { testedMinors } from './server-version.ts';

const check = (minor: number, major = 1) =>
  versionCheck('cluster c', { gitVersion: `v${major}.${minor}.0`, major, minor });
const newest = Math.max(...testedMinors);

test.each(testedMinors)('Kubernetes 1.%i, which Sluice is tested with, is fine', (minor) => {
  expect(check(minor)).toMatchObject({ result: 'ok', detail: `v1.${minor}.0` });
});

test.each([
  ['an older version', check(33), 'upgrade the cluster, or compare first with "sluice run --shadow"'],
  ['a newer version', check(newest + 1), 'use a Sluice release that lists it, or compare first'],
  ['another major version', check(0, 2), 'use a Sluice release that lists it, or compare first'],
])('%s is a warning that says what to do', (_, found, advice) => {
  expect(found).toMatchObject({ result: 'warning', advice: expect.stringContaining(advice) });
  expect('advice' in found && found.advice).toContain(`tested with Kubernetes 1.${testedMinors[0]}`);
});

test('a version without discovery.k8s.io/v1 is a failure', () => {
  expect(check(20)).toMatchObject({ result: 'failed', advice: expect.stringContaining('1.21') });
});
