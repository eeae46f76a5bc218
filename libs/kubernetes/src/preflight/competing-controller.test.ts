import { describe, expect, test } from 'vitest';
import {
  assessCompetingController,
  type CompetingControllerEvidence,
  type LeaderLease,
  type ManagerPod,
  otherFieldManagers,
  switchOffAdvice,
} from './competing-controller.ts';
import { enablesControllers } from './competing-controller-evidence.ts';

const now = 10_000_000;
const minute = 60_000;
const lease = { holder: 'node-1_x', acquiredAt: now - 600 * minute, renewedAt: now - 2_000, durationMs: 15_000 };
const wrote = (agoMs: number, manager = 'kube-controller-manager') => [
  { manager, at: now - agoMs, object: 'endpointslices shop/web-1' },
];
const assess = (given: Partial<CompetingControllerEvidence>) =>
  assessCompetingController({ now, writes: [], missing: [], lease: null, pods: [], ...given }).status;

describe('assessCompetingController', () => {
  test.each<[string, 'active' | 'unknown' | 'inactive', Partial<CompetingControllerEvidence>]>([
    ['a leader that has just written', 'active', { lease, writes: wrote(1_000) }],
    ['a recent write without a leader lease', 'active', { lease: null, writes: wrote(1_000) }],
    ['a recent write while reading the lease is forbidden', 'active', { lease: undefined, writes: wrote(1_000) }],
    [
      'a Pod that enables the controllers, even without recent writes',
      'active',
      { pods: [{ name: 'kcm', enabled: true }] },
    ],
    ['a recent write by k3s', 'active', { lease, writes: wrote(1_000, 'k3s') }],
    ['old writes without a leader: managedFields keep them', 'inactive', { writes: wrote(60 * minute) }],
    [
      'an expired lease, with the last write before its expiry',
      'inactive',
      { lease: { ...lease, renewedAt: now - 2 * minute }, writes: wrote(3 * minute) },
    ],
    [
      'an expired lease, with a write after its expiry',
      'active',
      {
        lease: { ...lease, renewedAt: now - 4 * minute },
        writes: wrote(1_000),
      },
    ],
    [
      'a released lease, with the last write before',
      'inactive',
      { lease: { ...lease, holder: '', renewedAt: now - 3_000 }, writes: wrote(4_000) },
    ],
    [
      'a released lease, with a write after: it runs without an election',
      'active',
      { lease: { ...lease, holder: '', renewedAt: now - 3_000 }, writes: wrote(1_000) },
    ],
    [
      'Pods that disable the controllers',
      'inactive',
      { lease, writes: wrote(1_000), pods: [{ name: 'kcm', enabled: false }] },
    ],
    ['a leader without recent writes', 'unknown', { lease, writes: wrote(60 * minute) }],
    [
      'a recent write by the previous leader: the current one may run without the controllers',
      'unknown',
      { lease: { ...lease, acquiredAt: now - minute }, writes: wrote(2 * minute) },
    ],
    ['a forbidden lease and no recent write', 'unknown', { lease: undefined }],
    ['an empty cluster', 'inactive', {}],
    ['no leader lease, and writes that may not be listed', 'unknown', { missing: ['list endpoints'] }],
    [
      'an expired lease, and writes that may not be listed',
      'unknown',
      { lease: { ...lease, renewedAt: now - 2 * minute }, missing: ['list endpoints'] },
    ],
    [
      'Pods that disable the controllers, and writes that may not be listed',
      'inactive',
      { lease, missing: ['list endpoints'], pods: [{ name: 'kcm', enabled: false }] },
    ],
    ['a recent edit by a person', 'inactive', { writes: wrote(1_000, 'kubectl-edit') }],
  ])('%s: %s', (_, verdict, given) => expect(assess(given)).toBe(verdict));
});

describe('a Pod with the controllers beside one without them', () => {
  const without = { name: 'kcm-1', node: 'node-1', startedAt: now - 700 * minute, enabled: false };
  const enabled = { name: 'kcm-2', node: 'node-2', startedAt: now - 700 * minute, enabled: true };

  test.each<[string, 'active' | 'inactive', Partial<ManagerPod>, Partial<LeaderLease>]>([
    ['stands by', 'inactive', {}, {}],
    ['leads', 'active', {}, { holder: 'NODE-2_x' }],
    ['waits for the lease of the process before it', 'inactive', { startedAt: now - 3_000 }, { holder: 'node-2_x' }],
    ['leads without an election', 'active', { leads: true }, {}],
    ['stands by or leads: the holder is on an unknown host', 'active', {}, { holder: 'other_x' }],
    ['stands by or leads: nobody renews the lease', 'active', {}, { renewedAt: now - minute }],
  ])('%s: %s', (_, verdict, pod, changed) => {
    expect(assess({ lease: { ...lease, ...changed }, pods: [without, { ...enabled, ...pod }] })).toBe(verdict);
  });
});

describe('--controllers', () => {
  test.each<[string, boolean, string[]]>([
    ['omitted: all run', true, ['kube-controller-manager']],
    [
      'excludes the three',
      false,
      ['--controllers=*,-endpoints-controller,-endpointslice-controller,-endpointslice-mirroring-controller'],
    ],
    ['excludes their aliases', false, ['--controllers=*,-endpoint,-endpointslice,-endpointslicemirroring']],
    ['excludes two of the three', true, ['--controllers=*,-endpoints-controller,-endpointslice-controller']],
    ['lists only others', false, ['--controllers=namespace-controller']],
    ['lists one of the three', true, ['--controllers=endpointslice-controller']],
    ['given twice: the last one wins', false, ['--controllers=*', '--controllers=deployment-controller']],
  ])('%s', (_, runs, flags) => expect(enablesControllers(flags)).toBe(runs));

  test('counts only the controllers that are to be replaced', () => {
    const flags = ['--controllers=*,-endpointslice'];
    expect(enablesControllers(flags, ['endpointslice-controller'])).toBe(false);
    expect(enablesControllers(flags, ['endpointslice-controller', 'endpoints-controller'])).toBe(true);
  });
});

test('otherFieldManagers reports recent writes of managers other than kube-controller-manager', () => {
  const writes = [...wrote(3_000, 'mesh'), ...wrote(5_000), ...wrote(7 * minute, 'kubectl-edit')];
  expect(otherFieldManagers({ now, writes })).toEqual(['mesh wrote endpointslices shop/web-1 3 s ago']);
});

describe('switchOffAdvice', () => {
  const off = '-endpoints-controller,-endpointslice-controller,-endpointslice-mirroring-controller';

  test.each<[string, string | undefined, string]>([
    ["kubeadm's default", '*,bootstrapsigner,tokencleaner', `*,bootstrapsigner,tokencleaner,${off}`],
    ['no flag', undefined, `*,${off}`],
    ['controllers that are disabled', '*,-ttl', `*,-ttl,${off}`],
    ['one of the three, under its alias', '*,endpoint,-endpointslice', `*,${off}`],
  ])('keeps what the Pod has: %s', (_, controllers, expected) => {
    const pod = { name: 'kcm', enabled: true, ...(controllers !== undefined && { controllers }) };
    expect(switchOffAdvice({ pods: [pod] })).toBe(`start kube-controller-manager with --controllers=${expected}`);
  });

  test('names only the controllers that are to be replaced', () => {
    const pods = [{ name: 'kcm', enabled: true, controllers: '*,endpoint' }];
    const advice = switchOffAdvice({ pods, replaced: ['endpointslice-controller'] });
    expect(advice).toBe('start kube-controller-manager with --controllers=*,endpoint,-endpointslice-controller');
  });

  test('guesses no value where no Pod is visible', () => {
    expect(switchOffAdvice()).toMatch(`add ${off} to --controllers of kube-controller-manager`);
    const some = switchOffAdvice({ pods: [], replaced: ['endpoints-controller'] });
    expect(some).toMatch('add -endpoints-controller to --controllers');
  });
});
