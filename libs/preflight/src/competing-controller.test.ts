import { describe, expect, test } from 'vitest';
import { type CompetingControllerEvidence, assessCompetingController, otherFieldManagers } from './competing-controller.ts';
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
  test.each<[string, 'alive' | 'unclear' | 'gone', Partial<CompetingControllerEvidence>]>([
    ['alive if it leads and has just written', 'alive', { lease, writes: wrote(1_000) }],
    ['alive if it has just written and needs no lease', 'alive', { lease: null, writes: wrote(1_000) }],
    ['alive if it has just written and its lease may not be read', 'alive', { lease: undefined, writes: wrote(1_000) }],
    [
      'alive if its Pod has them on, however long it has not written',
      'alive',
      { pods: [{ name: 'kcm', enabled: true }] },
    ],
    ['alive under the name of k3s', 'alive', { lease, writes: wrote(1_000, 'k3s') }],
    ['gone if nobody leads and it wrote long ago: what it wrote stays', 'gone', { writes: wrote(60 * minute) }],
    [
      'gone if its lease has run out, however fresh its last write before that',
      'gone',
      { lease: { ...lease, renewedAt: now - 2 * minute }, writes: wrote(3 * minute) },
    ],
    [
      'alive if it writes without renewing its lease',
      'alive',
      {
        lease: { ...lease, renewedAt: now - 4 * minute },
        writes: wrote(1_000),
      },
    ],
    [
      'gone if its Pods have them off',
      'gone',
      { lease, writes: wrote(1_000), pods: [{ name: 'kcm', enabled: false }] },
    ],
    ['unclear if it leads but has not written of late', 'unclear', { lease, writes: wrote(60 * minute) }],
    [
      'unclear if only the leader before wrote: this one may have been started without them',
      'unclear',
      { lease: { ...lease, acquiredAt: now - minute }, writes: wrote(2 * minute) },
    ],
    ['unclear if its lease may not be read and it has not written', 'unclear', { lease: undefined }],
    ['gone in an empty cluster', 'gone', {}],
    ['no person who edits a slice', 'gone', { writes: wrote(1_000, 'kubectl-edit') }],
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
