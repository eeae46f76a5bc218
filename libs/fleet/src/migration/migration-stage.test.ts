import type { CompetingControllerEvidence } from '@sluice/kubernetes/preflight';
import { describe, expect, test } from 'vitest';
import { distributionOf } from './distribution.ts';
import { assessMigration, type MigrationFacts, type MigrationStage } from './migration-stage.ts';

const now = 10_000_000;
const lease = { holder: 'node-1_x', acquiredAt: 0, renewedAt: now, durationMs: 15_000 };
const off = '-endpoints-controller,-endpointslice-controller,-endpointslice-mirroring-controller';
const kubeadmFlag = '*,bootstrapsigner,tokencleaner';
const on: Partial<CompetingControllerEvidence> = { pods: [{ name: 'kcm', enabled: true, controllers: kubeadmFlag }] };
const switchedOff: Partial<CompetingControllerEvidence> = {
  pods: [{ name: 'kcm', enabled: false, controllers: `${kubeadmFlag},${off}` }],
};

function assess(evidence: Partial<CompetingControllerEvidence>, facts: Partial<MigrationFacts> = {}) {
  return assessMigration({
    evidence: { now, writes: [], missing: [], lease, pods: [], ...evidence },
    ...{
      distribution: distributionOf(undefined, true),
      isClaimed: false,
      hasStandby: false,
      direction: 'in',
      clusterFlags: '--context staging',
      ...facts,
    },
  });
}

describe('the way in', () => {
  test.each<[MigrationStage, Partial<CompetingControllerEvidence>, Partial<MigrationFacts>, RegExp[]]>([
    ['kube-controller-manager', on, {}, [/--shadow/, /leader-elect/, /controllers off/, /migrate check/]],
    ['kube-controller-manager', on, { hasStandby: true }, [/controllers off/, /migrate check/]],
    ['both', on, { isClaimed: true }, [/controllers off/, /migrate check/]],
    ['nobody', switchedOff, {}, [/start Sluice/, /migrate check/]],
    ['sluice', switchedOff, { isClaimed: true }, []],
    ['unknown', {}, {}, [/doctor --probe/, /migrate check/]],
    ['provider', {}, { distribution: { name: 'EKS', controllers: '*' } }, [/--shadow/]],
  ])('%s', (stage, evidence, facts, next) => {
    const found = assess(evidence, facts);
    expect(found.stage).toBe(stage);
    expect(found.next).toEqual(next.map((step) => expect.stringMatching(step)));
    expect(found.isUrgent).toBe(stage === 'nobody');
  });
});

describe('the way back', () => {
  test.each<[MigrationStage, Partial<CompetingControllerEvidence>, Partial<MigrationFacts>, RegExp[]]>([
    ['sluice', switchedOff, { isClaimed: true }, [/controllers on/, /migrate check --rollback/]],
    ['nobody', switchedOff, {}, [/controllers on/, /migrate check --rollback/]],
    ['both', on, { isClaimed: true }, [/uninstall/, /migrate check --rollback/]],
    ['kube-controller-manager', on, { hasStandby: true }, [/uninstall/]],
    ['kube-controller-manager', on, {}, []],
  ])('%s', (stage, evidence, facts, next) => {
    const found = assess(evidence, { ...facts, direction: 'back' });
    expect(found.stage).toBe(stage);
    expect(found.next).toEqual(next.map((step) => expect.stringMatching(step)));
  });
});

test('the flag keeps what it lists, both ways', () => {
  expect(assess(on).next.join('\n')).toContain(`--controllers=${kubeadmFlag},${off} in /etc/kubernetes`);
  const back = assess(switchedOff, { isClaimed: true, direction: 'back' });
  expect(back.next.join('\n')).toContain(`--controllers=${kubeadmFlag} in /etc/kubernetes`);
});

test('without visible Pods, the flag starts from the default of the distribution', () => {
  const distribution = distributionOf({ status: { nodeInfo: { kubeletVersion: 'v1.36.3+k3s1' } } }, false);
  const { next } = assess({ writes: [{ manager: 'k3s', at: now, object: 'endpoints a/b' }] }, { distribution });
  expect(next.join('\n')).toContain(
    `["controllers=*,tokencleaner,-service,-route,-cloud-node-lifecycle,${off}"] into /etc/rancher/k3s/config.yaml`,
  );
});

test('each command names the cluster that was checked', () => {
  const steps = [assess(on), assess(switchedOff), assess({}), assess(on, { direction: 'back', hasStandby: true })];
  const commands = steps.flatMap(({ next }) =>
    next.flatMap((step) => step.match(/sluice (run|doctor|migrate).*/)?.[0] ?? []),
  );
  expect(commands.length).toBeGreaterThan(4);
  for (const command of commands) expect(command).toContain('--context staging');
});

test('says when Sluice wrote last, not that it has paused its writes', () => {
  const writes = [{ manager: 'kube-controller-manager', at: now - 90_000, object: 'endpoints a/b' }];
  const evidence = { lease: null, writes };
  expect(assess({ ...evidence, ownWriteAt: now - 3_000 }, { isClaimed: true })).toMatchObject({
    stage: 'both',
    why: 'kube-controller-manager wrote endpoints a/b 90 s ago; Sluice serves the cluster and last wrote 3 s ago',
  });
  expect(assess(evidence, { isClaimed: true }).why).toMatch(/Sluice serves the cluster and has not written$/);
});

test('only the controllers that Sluice replaces are switched off', () => {
  const { next } = assess({ ...on, replaced: ['endpointslice-controller'] });
  expect(next.join('\n')).toContain(`--controllers=${kubeadmFlag},-endpointslice-controller in /etc`);
});
