import type { PlannedMutations, ReadyEndpointsDelta, RemovalEvidence } from '@sluice/messages';
import { VirtualClock } from '@sluice/platform';
import { beforeEach, expect, test } from 'vitest';
import { aPlan } from '../testing/plans.ts';
import { apiError, forbidden, ScriptedCluster, unavailable } from '../testing/scripted-cluster.ts';
import { confirmChanges, heldBackReasons } from './confirm-changes.ts';
import type { CheckResult } from './fresh-read.ts';
import { MassChangeGuard } from './mass-change-guard.ts';

const gone: RemovalEvidence = { kind: 'pod', name: 'p', uid: 'u' };
const notReady: RemovalEvidence = { kind: 'readiness', name: 'p', uid: 'u' };

const { signal } = new AbortController();
let cluster: ScriptedCluster;
let checked: CheckResult[];

beforeEach(() => {
  checked = [];
  cluster = new ScriptedCluster();
  cluster.objects.set('web', { metadata: { name: 'web', namespace: 'shop' }, spec: { selector: { app: 'web' } } });
  cluster.objects.set('p', {
    metadata: { name: 'p', namespace: 'shop', uid: 'u', labels: { app: 'web' } },
    spec: {},
    status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
  });
});

function confirm(...evidence: RemovalEvidence[]) {
  const onChecked = (result: CheckResult) => void checked.push(result);
  const guard = new MassChangeGuard('removal', { percent: 25, clock: new VirtualClock(0), onChecked });
  return confirmBy(guard, aPlan([], { ready: { delta: -2, total: 10, repeated: true, evidence } }));
}

const confirmBy = (guard: MassChangeGuard, plan: PlannedMutations) =>
  confirmChanges(plan, { massChangeGuards: [guard], partition: 0, reads: () => cluster, signal });

test('a removal that the cluster confirms passes', async () => {
  cluster.objects.delete('p');
  expect(await confirm(gone, notReady)).toBeUndefined();
  expect(checked).toEqual(['confirmed']);
});

test('a removal without evidence passes and is not counted as confirmed', async () => {
  expect(await confirm()).toBeUndefined();
  expect([checked, cluster.requests]).toEqual([[], []]);
});

test('an addition without evidence passes and is not counted as confirmed', async () => {
  const onChecked = (result: CheckResult) => void checked.push(result);
  const guard = new MassChangeGuard('addition', { percent: 25, clock: new VirtualClock(0), onChecked });
  const added = { count: 1, evidence: [] };
  expect(await confirmBy(guard, aPlan([], { ready: { delta: 0, total: 1, repeated: true, added } }))).toBeUndefined();
  expect([checked, cluster.requests]).toEqual([[], []]);
});

test('a removal that the cluster refutes is held back', async () => {
  const message = `${heldBackReasons.removal}: 2 ready endpoints would be removed, but Pod p exists, is selected and ready`;
  expect(await confirm(gone)).toMatchObject({ status: 'rejected', message });
  expect(checked).toEqual(['refuted']);
});

test('a Pod that is ready again causes a new decision and parks nothing', async () => {
  const message = '2 ready endpoints would be removed, but Pod p is ready again';
  expect(await confirm(notReady)).toMatchObject({ status: 'conflict', message });
  expect(checked).toEqual(['overtaken']);
});

test.each<['removal' | 'addition', Partial<ReadyEndpointsDelta>, string]>([
  ['removal', { evidence: [gone] }, '30 ready endpoints would be removed, but Pod p exists, is selected and ready'],
  [
    'addition',
    { added: { count: 30, evidence: [{ kind: 'pod', name: 'p', uid: 'u', address: '10.9.9.9' }] } },
    '30 new addresses would be added, but Pod p does not have address 10.9.9.9',
  ],
])(
  'the first contradiction of an %s causes a new decision: the Pod may have changed twice',
  async (direction, what, message) => {
    const onChecked = (result: CheckResult) => void checked.push(result);
    const guard = new MassChangeGuard(direction, { percent: 25, clock: new VirtualClock(0), onChecked });
    const plan = aPlan([], { ready: { delta: -30, total: 100, ...what } });
    expect(await confirmBy(guard, plan)).toMatchObject({ status: 'conflict', message, heldBack: true });
    expect(checked).toEqual(['overtaken']);
  },
);

test.each([
  [unavailable, 'unavailable'],
  [apiError('retry', 429), 'unavailable'],
  [forbidden, 'rejected'],
] as const)('a read that fails with %s holds the plan back as %s', async (error, status) => {
  cluster.fails('get web', error);
  expect(await confirm(gone)).toMatchObject({ status });
  expect(checked).toEqual(['unknown']);
});

test.each([
  [1, 'addition held back: 1 new address would be added, but Pod p does not have address 10.9.9.9'],
  [2, 'addition held back: 2 new addresses would be added, but Pod p does not have address 10.9.9.9'],
])('an addition of %i addresses that the cluster refutes is held back', async (count, message) => {
  const onChecked = (result: CheckResult, text: string) => void checked.push(result, text as CheckResult);
  const guard = new MassChangeGuard('addition', { percent: 25, clock: new VirtualClock(0), onChecked });
  const evidence = [{ kind: 'pod', name: 'p', uid: 'u', address: '10.9.9.9' }] as const;
  const plan = aPlan([], { ready: { delta: 0, total: 10, repeated: true, added: { count, evidence } } });
  expect(await confirmBy(guard, plan)).toEqual({
    ...{ status: 'rejected', message, heldBack: true, results: [], failures: [] },
  });
  expect(checked).toEqual(['refuted', message]);
});

test('an error that is no answer of the cluster ends the worker', async () => {
  cluster.fails('get web', new TypeError('bug'));
  await expect(confirm(gone)).rejects.toThrow('bug');
  expect(checked).toEqual([]);
});
