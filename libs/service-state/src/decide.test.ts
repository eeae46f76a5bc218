import type { Controller } from '@sluice/controllers';
import type { Fact } from '@sluice/messages';
import { beforeEach, describe, expect, test } from 'vitest';
import { applyChange } from './apply-change.ts';
import { applyOutcome } from './apply-outcome.ts';
import { decide, decisionOrder, isDue } from './decide.ts';
import { ServiceState } from './service-state.ts';
import { defaultSettings } from './settings.ts';
import { aChange, anOutcome, aSnapshot, fact, key, whatHappened } from './testing/messages.ts';
import { aPod, aService, mirroring } from './testing/objects.ts';

const now = 1_000_000;
const service: Fact = { kind: 'service', service: aService() };
let view: ServiceState;
let plans: number;

beforeEach(() => {
  view = new ServiceState(key);
  plans = 0;
});

const nextPlan = () => ({ epoch: 3, number: ++plans });

const fold = (change: Parameters<typeof applyChange>[1]) => applyChange(view, change, now, defaultSettings);
const due = (at = now) => decisionOrder.filter((controller) => isDue(view, controller, at));
const decided = (controller: Controller) => decide(view, controller, nextPlan, now, defaultSettings).plan;
/** Decides, and has the plan applied. The name of what it creates first. */
function applied(controller: Controller): string {
  const plan = decided(controller);
  const [mutation] = plan?.groups.flatMap(({ mutations }) => mutations) ?? [];
  if (plan === undefined || mutation?.verb !== 'create') throw new Error('nothing created');
  applyOutcome(view, anOutcome(plan), now, defaultSettings);
  return mutation.object.metadata.name;
}

const verbs = (controller: Controller) =>
  decided(controller)?.groups.flatMap(({ mutations }) => mutations.map(({ verb, resource }) => `${verb} ${resource}`));

describe('a decision is due', () => {
  test('only after a whole snapshot (A9)', () => {
    fold(aChange(1, [service]));
    expect(due()).toEqual([]);
    fold(aSnapshot(2, [service]));
    expect(due()).toEqual(decisionOrder);
  });

  test('not before its time', () => {
    fold(aSnapshot(1, [service]));
    expect(due(now - 1)).toEqual([]);
  });

  test('not while a plan of the controller is in flight; the others go on (B2)', () => {
    fold(aSnapshot(1, [service, fact.pod('p')]));
    decided('endpointslice');
    fold(aChange(2, [fact.pod('q')]));
    expect(due()).toEqual(['endpointslicemirroring', 'endpoints']);
  });

  test('not twice for the same thing', () => {
    fold(aSnapshot(1, [service]));
    for (const controller of decisionOrder) decided(controller);
    expect(due(now + 1e9)).toEqual([]);
  });
});

describe('a plan', () => {
  test('says what it is, why, and for whom', () => {
    fold(aSnapshot(1, [service, fact.pod('p')]));
    expect(decided('endpointslice')).toMatchObject({
      kind: 'mutations',
      key,
      controller: 'endpointslice',
      plan: { epoch: 3, number: 1 },
      serviceUid: 'service-uid',
      causes: whatHappened('change 1'),
      decidedAt: now,
    });
    expect(view.controller('endpointslice').causes).toEqual({ first: [], more: 0 });
  });

  test('has the next number; those that want nothing use none', () => {
    fold(aSnapshot(1, [service, fact.pod('p')]));
    expect(decided('endpointslice')?.plan.number).toBe(1);
    view.setController('endpointslice', { ...view.controller('endpointslice'), inFlight: null });
    expect(decided('endpointslicemirroring')).toBeUndefined();
    expect(decided('endpointslice')?.plan.number).toBe(2);
  });

  test('is not made where the cluster is as it should be; trackers then move at once', () => {
    fold(aSnapshot(1, [{ kind: 'service', service: aService({ selector: null }) }]));
    view.setController('endpointslice', { ...view.controller('endpointslice'), failures: 3 });
    expect(decided('endpointslice')).toBeUndefined();
    expect(view.controller('endpointslice')).toMatchObject({ failures: 0, dueAt: null, inFlight: null });
  });

  test('is not needed for the trigger times to move (C17)', () => {
    fold(aSnapshot(1, [service, fact.pod('p')], { endpointslices: '9' }));
    applied('endpointslice');
    const later = aPod('p', { readyTransitionTime: '2026-01-01T00:09:00Z' });
    fold(aChange(2, [{ kind: 'pod', name: 'p', pod: later, node: { zone: 'a' } }]));
    expect(decided('endpointslice')).toBeUndefined();
    expect(view.controller('endpointslice').triggers?.pods.p).toBe('2026-01-01T00:09:00Z');
  });

  test('puts another slice in the place of one that was relabelled: nothing waits for a stale cache (C21, C22)', () => {
    fold(aSnapshot(1, [service, fact.pod('p')], { endpointslices: '9' }));
    const written = applied('endpointslice');
    expect(Object.keys(view.controller('endpointslice').tracked)).toHaveLength(1);
    const uid = `stored-${written}`;
    fold(aChange(2, [{ kind: 'slice', name: written, slice: null, uid, relabelled: true }]));
    expect(verbs('endpointslice')).toEqual(['create endpointslices']);
  });

  test('that is incomplete is sent although it writes nothing, so that its failure is told (E15)', () => {
    const pod: Fact = { kind: 'pod', name: 'p', pod: aPod('p'), node: null };
    fold(aSnapshot(1, [service, pod], { endpointslices: '9' }));
    const placeholder = decided('endpointslice');
    if (placeholder === undefined) throw new Error('no placeholder');
    applyOutcome(view, anOutcome(placeholder), now, defaultSettings);
    expect(decided('endpointslice')).toMatchObject({
      groups: [],
      incomplete: [expect.stringContaining('Node node-a')],
    });
  });
});

describe('controllers see only what is theirs', () => {
  test('a Service without selector keeps its slices; the mirrored ones follow its Endpoints', () => {
    const custom: Fact = { kind: 'service', service: aService({ selector: null }) };
    fold(aSnapshot(1, [custom, fact.slice('s'), fact.slice('m', { manager: mirroring }), fact.endpoints()]));
    expect(verbs('endpointslice')).toBeUndefined();
    expect(verbs('endpoints')).toBeUndefined();
    expect(verbs('endpointslicemirroring')).toEqual(['delete endpointslices']);
  });

  test('a clean-up of mirrored slices forgets what was tracked (H6)', () => {
    const custom: Fact = { kind: 'service', service: aService({ selector: null }) };
    fold(aSnapshot(1, [custom, fact.slice('m', { manager: mirroring }), fact.endpoints()]));
    const tracked = { 'uid-m': 1 };
    view.setController('endpointslicemirroring', { ...view.controller('endpointslicemirroring'), tracked });
    fold(aChange(2, [fact.endpointsGone()]));
    expect(verbs('endpointslicemirroring')).toEqual(['delete endpointslices']);
    expect(view.controller('endpointslicemirroring').tracked).toEqual({});
  });

  test('slices of the other controller are not touched', () => {
    fold(aSnapshot(1, [service, fact.pod('p'), fact.slice('m', { manager: mirroring })]));
    expect(verbs('endpointslice')).toEqual(['create endpointslices']);
  });

  test('a Service that goes leaves its slices to the garbage collector (E8) and takes its Endpoints along (D5)', () => {
    fold(aSnapshot(1, [service, fact.slice('s'), fact.endpoints()]));
    fold(aChange(2, [fact.noService]));
    expect(verbs('endpointslice')).toBeUndefined();
    expect(verbs('endpoints')).toEqual(['delete endpoints']);
  });

  test('every update and delete carries what it was decided on (D23, E31, K2)', () => {
    fold(aSnapshot(1, [service, fact.pod('p'), fact.slice('s'), fact.slice('t'), fact.endpoints()]));
    const mutations = ['endpointslice', 'endpoints'].flatMap((controller) =>
      (decided(controller as Controller)?.groups ?? []).flatMap((group) => group.mutations),
    );
    expect(mutations.map(({ verb }) => verb).sort()).toEqual(['delete', 'update', 'update']);
    for (const mutation of mutations) {
      const version = mutation.verb === 'delete' ? mutation.resourceVersion : mutation.object.metadata.resourceVersion;
      expect(version, JSON.stringify(mutation)).toBe('5');
    }
  });
});
