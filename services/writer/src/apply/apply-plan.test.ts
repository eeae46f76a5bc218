import type { AdditionEvidence, PlannedMutations, ReadyEndpointsDelta, RemovalEvidence } from '@sluice/messages';
import { VirtualClock } from '@sluice/platform';
import { beforeEach, describe, expect, test } from 'vitest';
import type { CheckResult } from '../confirmation/fresh-read.ts';
import { type Direction, MassChangeGuard } from '../confirmation/mass-change-guard.ts';
import { aPlan, update } from '../testing/plans.ts';
import { conflict, forbidden, ScriptedCluster } from '../testing/scripted-cluster.ts';
import type { CompetingControllerDetection, WritableCluster } from '../writable-cluster.ts';
import { applyPlan } from './apply-plan.ts';
import type { CompetingWrite } from './find-competing-write.ts';

const { signal } = new AbortController();
let cluster: ScriptedCluster;
/** With the writer's own identity, and without retries. */
let own: ScriptedCluster;
let once: ScriptedCluster;
let checked: string[];
let guards: Pick<WritableCluster, 'massChangeGuards' | 'competingControllers'>;

beforeEach(() => {
  [cluster, own, once] = [new ScriptedCluster(), new ScriptedCluster(), new ScriptedCluster()];
  checked = [];
  const guard = (direction: Direction) =>
    new MassChangeGuard(direction, {
      ...{ percent: 25, clock: new VirtualClock(0) },
      onChecked: (result: CheckResult) => void checked.push(`${direction} ${result}`),
    });
  guards = { massChangeGuards: [guard('removal'), guard('addition')] };
  own.objects.set('web', { metadata: { name: 'web', namespace: 'shop' }, spec: { selector: { app: 'web' } } });
  store('True');
  const metadata = { name: 'a', managedFields: [{ manager: 'mesh', time: '2026-01-01T00:00:05Z' }] };
  once.objects.set('a', { metadata });
});

function store(ready: 'True' | 'False'): void {
  own.objects.set('p', {
    metadata: { name: 'p', namespace: 'shop', uid: 'u', labels: { app: 'web' } },
    spec: {},
    status: { phase: 'Running', podIP: '10.1.0.1', podIPs: [], conditions: [{ type: 'Ready', status: ready }] },
  });
}

const apply = (plan: PlannedMutations) =>
  applyPlan(plan, {
    cluster: guards,
    requests: { retried: cluster, ownIdentity: () => own, once: () => once },
    partition: 0,
    requestSignal: signal,
  });
const change = (ready: ReadyEndpointsDelta) => apply(aPlan([[update('a')]], { ready }));

const gone: RemovalEvidence = { kind: 'pod', name: 'p', uid: 'u' };
const removal = { delta: -90, total: 100, evidence: [gone] };
const added = (address: string): AdditionEvidence => ({ kind: 'pod', name: 'p', uid: 'u', address });
const addition = (address: string): ReadyEndpointsDelta => ({
  ...{ delta: 0, total: 100, repeated: true, added: { count: 90, evidence: [added(address)] } },
});

describe('a change of a large share of the cluster', () => {
  test('is applied if the cluster confirms it, which is asked with the writer’s own identity', async () => {
    store('False');
    expect((await change(removal)).status).toBe('applied');
    expect((await change(addition('10.1.0.1'))).status).toBe('applied');
    expect(checked).toEqual(['removal confirmed', 'addition confirmed']);
    expect(cluster.requests).toEqual(['update a', 'update a']);
    expect([...new Set(own.requests)].sort()).toEqual(['get p', 'get web']);
  });

  test('is held back if the cluster refutes it', async () => {
    expect(await change(removal)).toMatchObject({
      status: 'rejected',
      message: expect.stringMatching(/^removal held/),
    });
    expect(await change(addition('10.9.9.9'))).toMatchObject({ message: expect.stringMatching(/^addition held back/) });
    expect(checked).toEqual(['removal refuted', 'addition refuted']);
    expect(cluster.requests).toEqual([]);
  });

  test('is held back if it removes and adds, and only one of both is refuted', async () => {
    store('False');
    const { message } = await change({ ...addition('10.9.9.9'), ...removal });
    expect(message).toContain('addition held back');
    expect(checked).toEqual(['removal confirmed', 'addition refuted']);
  });

  test('is applied without guards', async () => {
    guards = {};
    expect((await change({ ...addition('10.9.9.9'), ...removal })).status).toBe('applied');
    expect(own.requests).toEqual([]);
  });
});

test('a small change is not checked', async () => {
  expect((await change({ ...removal, delta: -1 })).status).toBe('applied');
  expect([checked, own.requests]).toEqual([[], []]);
});

test('a plan that is held back counts for both guards', async () => {
  const both = { ...removal, delta: -40, added: { count: 90, evidence: [added('10.1.0.1')] } };
  expect((await change(both)).message).toContain('removal held back');
  store('False');
  expect((await change({ delta: 0, total: 60, added: { count: 1, evidence: [added('10.1.0.1')] } })).status).toBe(
    'applied',
  );
  expect(checked).toEqual(['removal refuted', 'addition confirmed']);
});

describe('a competing controller', () => {
  const write = { object: 'endpointslices shop/a', manager: 'mesh', at: '2026-01-01T00:00:05.000Z' };
  let competing: CompetingWrite[];
  let conflicting: CompetingWrite[];

  const detect = (given: Partial<CompetingControllerDetection> = {}) => {
    [competing, conflicting] = [[], []];
    guards = {
      competingControllers: {
        ownManager: 'sluice',
        onCompetingWrite: (_, found) => void competing.push(found),
        onConflict: (_, found) => void conflicting.push(found),
        ...given,
      },
    };
  };

  test('is reported if a plan repairs its changes again and again, and does not keep the plan from being applied', async () => {
    detect();
    expect((await apply(aPlan([[update('a')]], { consecutiveRepairs: 5 }))).status).toBe('applied');
    expect([competing, conflicting]).toEqual([[write], []]);
    expect([once.requests, cluster.requests]).toEqual([['get a'], ['update a']]);
  });

  test('is not looked for otherwise', async () => {
    detect();
    await apply(aPlan([[update('a')]]));
    await apply(aPlan([], { consecutiveRepairs: 5 }));
    guards = {};
    await apply(aPlan([[update('a')]], { consecutiveRepairs: 5 }));
    expect([once.requests, competing]).toEqual([[], []]);
  });

  test('is reported after a conflict if that is to be investigated', async () => {
    detect({ investigatesConflict: () => true });
    cluster.fails('update a', conflict, forbidden);
    expect((await apply(aPlan([[update('a')]]))).status).toBe('conflict');
    expect((await apply(aPlan([[update('a')]]))).status).toBe('rejected');
    expect((await apply(aPlan([[update('a')]]))).status).toBe('applied');
    expect([competing, conflicting]).toEqual([[], [write]]);
  });

  test('is not reported after a conflict if nobody investigates, or no other manager wrote the object', async () => {
    detect({ investigatesConflict: () => false });
    cluster.fails('update a', conflict, conflict, conflict);
    await apply(aPlan([[update('a')]]));
    detect();
    await apply(aPlan([[update('a')]]));
    expect(once.requests).toEqual([]);
    detect({ investigatesConflict: () => true, ownManager: 'mesh' });
    await apply(aPlan([[update('a')]]));
    expect([once.requests, conflicting]).toEqual([['get a'], []]);
  });
});
