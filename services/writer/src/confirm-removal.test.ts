import type { RemovalEvidence } from '@sluice/messages';
import { VirtualClock } from '@sluice/runtime';
import { beforeEach, expect, test } from 'vitest';
import { confirmRemoval, heldBackReason } from './confirm-removal.ts';
import { RemovalBrake, type RemovalCheck } from './removal-brake.ts';
import { aPlan } from './testing/plans.ts';
import { apiError, forbidden, ScriptedCluster, unavailable } from './testing/scripted-cluster.ts';

const gone: RemovalEvidence = { kind: 'pod', name: 'p', uid: 'u' };
const notReady: RemovalEvidence = { kind: 'readiness', name: 'p', uid: 'u' };

let cluster: ScriptedCluster;
let checked: RemovalCheck[];

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
  const onChecked = (result: RemovalCheck) => void checked.push(result);
  const brake = new RemovalBrake({ percent: 25, clock: new VirtualClock(0), onChecked });
  const plan = aPlan([], { ready: { delta: -2, total: 10, evidence } });
  return confirmRemoval(plan, brake, cluster, (request) => request(), new AbortController().signal);
}

test('what is so passes', async () => {
  cluster.objects.delete('p');
  expect(await confirm(gone, notReady)).toBeUndefined();
  expect(checked).toEqual(['confirmed']);
});

test('what rests on nothing that could be looked at passes, and says nothing for others', async () => {
  expect(await confirm()).toBeUndefined();
  expect([checked, cluster.requests]).toEqual([[], []]);
});

test('what is not so is held back', async () => {
  const message = `${heldBackReason}: 2 ready endpoints would be removed, but Pod p is there, selected and ready`;
  expect(await confirm(gone)).toMatchObject({ status: 'rejected', message });
  expect(checked).toEqual(['refuted']);
});

test('a Pod that is ready again has its Service decided anew: nothing is parked', async () => {
  const message = '2 ready endpoints would be removed, but Pod p is ready again';
  expect(await confirm(notReady)).toMatchObject({ status: 'conflict', message });
  expect(checked).toEqual(['overtaken']);
});

test.each([
  [unavailable, 'unavailable'],
  [apiError('retry', 429), 'unavailable'],
  [forbidden, 'rejected'],
] as const)('%s instead of an answer: held back, %s', async (error, status) => {
  cluster.fails('get web', error);
  expect(await confirm(gone)).toMatchObject({ status });
  expect(checked).toEqual(['unknown']);
});
