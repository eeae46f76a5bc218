import { describe, expect, test } from 'vitest';
import { competingControllerCheck, versionCheck } from './check-cluster.ts';
import type { CompetingControllerEvidence } from './competing-controller.ts';
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

describe('other controllers', () => {
  const now = 10_000_000;
  const writes = [{ manager: 'kube-controller-manager', at: now - 90_000, object: 'endpoints shop/web' }];
  const lease = { holder: 'node-1_x', acquiredAt: now - 1_000, renewedAt: now, durationMs: 15_000 };
  const idle: CompetingControllerEvidence = { now, writes: [], missing: [], lease: null, pods: [] };
  const recent = { ...idle, writes };
  const hidden = { ...idle, lease };
  const enabled = { ...idle, pods: [{ name: 'kcm', enabled: true }] };
  const wrote = 'kube-controller-manager wrote EndpointSlice default/p';

  test.each<[string, CompetingControllerEvidence, string | null | undefined, string, RegExp | undefined]>([
    ['no sign of one', idle, undefined, 'ok', undefined],
    ['no sign of one, and the probe agrees', idle, null, 'ok', undefined],
    ['no sign of one, but the probe finds it', idle, wrote, 'failed', /^add -endpoints-controller/],
    ['recent writes', recent, undefined, 'failed', /--take-over/],
    ['writes before it was disabled, which the probe shows', recent, null, 'note', /^start Sluice with --take-over/],
    ['flags that nobody sees', hidden, undefined, 'warning', /doctor --probe/],
    ['flags that nobody sees, and the probe settles it', hidden, null, 'note', /^start Sluice with --take-over/],
    [
      'a Pod that has them enabled, whatever the probe finds',
      enabled,
      null,
      'failed',
      /^start kube-controller-manager/,
    ],
  ])('%s', (_, evidence, writer, result, advice) => {
    const probed = writer === undefined ? undefined : { writer: writer ?? undefined };
    const found = competingControllerCheck('cluster c', evidence, probed);
    expect(found.result).toBe(result);
    if (advice === undefined) expect(found).not.toHaveProperty('advice');
    else expect(found.advice).toMatch(advice);
    if (probed !== undefined) expect(found.advice ?? '').not.toContain('--probe');
  });
});
