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
