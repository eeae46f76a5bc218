import { describe, expect, test } from 'vitest';
import {
  assessCompetingController,
  type CompetingControllerEvidence,
  otherFieldManagers,
} from './competing-controller.ts';
import { runsOneOfThem } from './competing-controller-evidence.ts';

const now = 10_000_000;
const minute = 60_000;
const lease = { holder: 'node-1_x', acquiredAt: now - 600 * minute, renewedAt: now - 2_000, durationMs: 15_000 };
const wrote = (agoMs: number, manager = 'kube-controller-manager') => [
  { manager, at: now - agoMs, object: 'endpointslices shop/web-1' },
];
const judge = (given: Partial<CompetingControllerEvidence>) =>
  assessCompetingController({ now, writes: [], lease: null, pods: [], ...given }).status;

describe('another controller is', () => {
  test.each<[string, 'active' | 'unknown' | 'inactive', Partial<CompetingControllerEvidence>]>([
    ['active if it leads and has just written', 'active', { lease, writes: wrote(1_000) }],
    ['active if it has just written and needs no lease', 'active', { lease: null, writes: wrote(1_000) }],
    [
      'active if it has just written and its lease may not be read',
      'active',
      { lease: undefined, writes: wrote(1_000) },
    ],
    [
      'active if its Pod has them on, however long it has not written',
      'active',
      { pods: [{ name: 'kcm', enabled: true }] },
    ],
    ['active under the name of k3s', 'active', { lease, writes: wrote(1_000, 'k3s') }],
    ['inactive if nobody leads and it wrote long ago: what it wrote stays', 'inactive', { writes: wrote(60 * minute) }],
    [
      'inactive if its lease has run out, however fresh its last write before that',
      'inactive',
      { lease: { ...lease, renewedAt: now - 2 * minute }, writes: wrote(3 * minute) },
    ],
    [
      'active if it writes without renewing its lease',
      'active',
      {
        lease: { ...lease, renewedAt: now - 4 * minute },
        writes: wrote(1_000),
      },
    ],
    [
      'inactive if its Pods have them off',
      'inactive',
      { lease, writes: wrote(1_000), pods: [{ name: 'kcm', enabled: false }] },
    ],
    ['unknown if it leads but has not written of late', 'unknown', { lease, writes: wrote(60 * minute) }],
    [
      'unknown if only the leader before wrote: this one may have been started without them',
      'unknown',
      { lease: { ...lease, acquiredAt: now - minute }, writes: wrote(2 * minute) },
    ],
    ['unknown if its lease may not be read and it has not written', 'unknown', { lease: undefined }],
    ['inactive in an empty cluster', 'inactive', {}],
    ['no person who edits a slice', 'inactive', { writes: wrote(1_000, 'kubectl-edit') }],
  ])('%s', (_, verdict, given) => expect(judge(given)).toBe(verdict));
});

describe('the flag --controllers', () => {
  test.each<[string, boolean, string[]]>([
    ['left out: all run', true, ['kube-controller-manager']],
    [
      'all but the three',
      false,
      ['--controllers=*,-endpoints-controller,-endpointslice-controller,-endpointslice-mirroring-controller'],
    ],
    ['by their aliases', false, ['--controllers=*,-endpoint,-endpointslice,-endpointslicemirroring']],
    ['one is left', true, ['--controllers=*,-endpoints-controller,-endpointslice-controller']],
    ['others only', false, ['--controllers=namespace-controller']],
    ['one of them only', true, ['--controllers=endpointslice-controller']],
    ['the last one counts', false, ['--controllers=*', '--controllers=deployment-controller']],
  ])('%s', (_, runs, flags) => expect(runsOneOfThem(flags)).toBe(runs));
});

test('others that have written of late are told of, kube-controller-manager and what is long ago are not', () => {
  const writes = [...wrote(3_000, 'mesh'), ...wrote(5_000), ...wrote(7 * minute, 'kubectl-edit')];
  expect(otherFieldManagers({ now, writes })).toEqual(['mesh wrote endpointslices shop/web-1 3 s ago']);
});
