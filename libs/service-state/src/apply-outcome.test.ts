import { decisionOrder } from '@sluice/controllers';
import {
  type Change,
  digestFacts,
  type Fact,
  type MutationResult,
  noCauses,
  type Outcome,
  type PlannedMutations,
} from '@sluice/messages';
import type { Controller, EndpointSlice, Mutation } from '@sluice/model';
import { beforeEach, describe, expect, test } from 'vitest';
import { judgedStatus } from './apply-outcome.ts';
import { decide, planOf } from './decide.ts';
import { differences } from './divergence.ts';
import { dueAt } from './due.ts';
import { evolve } from './evolve.ts';
import { ServiceState } from './service-state.ts';
import { defaultSettings } from './settings.ts';
import { aChange, allApplied, anOutcome, aSnapshot, fact, key, whatHappened } from './testing/messages.ts';
import { aController, aPod, aService, aSlice, someEndpoints } from './testing/objects.ts';

const now = 1_000_000;
const settings = defaultSettings;
let state: ServiceState;
let plan: PlannedMutations;
let plans: number;

/** The EndpointSlice controller has one plan in flight: to create the first slice. */
beforeEach(() => {
  plans = 0;
  state = new ServiceState(key);
  change(
    aSnapshot(1, [{ kind: 'service', service: aService() }, fact.pod('p')], { endpoints: '9', endpointslices: '9' }),
  );
  for (const controller of decisionOrder) {
    state.setController(controller, {
      ...state.controller(controller),
      timers: { ...state.controller(controller).timers, dueAt: null },
      causes: noCauses,
    });
  }
  plan = decided('endpointslice');
});

function change(given: Change): void {
  evolve(state, given, now, settings);
}

/** Whatever it waits for, the controller decides now. */
function decided(controller: Controller): PlannedMutations {
  const nextPlan = { epoch: 1, number: plans + 1 };
  const before = state.controller(controller);
  state.setController(controller, aController({ timers: { dueAt: now, cooldownUntil: undefined } }, before));
  const decision = decide(state, controller, now, { settings, nextPlan });
  const made = planOf(decision);
  if (decision === null || made === undefined) throw new Error(`no plan of ${controller}`);
  evolve(state, decision, now, settings);
  plans++;
  return made;
}

test('a deletion that finalizers hold back is applied, also if the watch has reported its end', () => {
  const metadata = { ...aSlice('s').metadata, deletionTimestamp: '2026-01-02T00:00:00Z' };
  const result: MutationResult = {
    ...{ group: 0, index: 0, verb: 'delete', resource: 'endpointslices', name: 's', status: 'applied' },
    current: { ...aSlice('s'), metadata },
  };
  expect(judgedStatus(state, anOutcome(plan, { status: 'applied', results: [result] }))).toBe('applied');
});

function complete(outcome: Partial<Outcome> = {}, at = now): void {
  evolve(state, anOutcome(plan, outcome), at, settings);
}

const slicesState = () => state.controller('endpointslice');
const names = () => [...state.slices].map(([name, { slice }]) => `${name}@${slice.metadata.resourceVersion}`);
const created = (): EndpointSlice => {
  const mutation: Mutation | undefined = plan.groups[0]?.mutations[0];
  if (mutation?.verb !== 'create' || mutation.resource !== 'endpointslices') throw new Error('no slice is created');
  return mutation.object;
};
const plannedNames = () =>
  plan.groups.flatMap(({ mutations }) =>
    mutations.flatMap((mutation) => (mutation.verb === 'create' ? [mutation.object.metadata.name] : [])),
  );
/** The created slice as the watch delivers it. */
const watched = (version: number, given: Partial<EndpointSlice> = {}): Fact => {
  const object = created();
  const uid = `stored-${object.metadata.name}`;
  const metadata = { ...object.metadata, uid, resourceVersion: `${version}`, generation: 1 };
  return { kind: 'slice', name: metadata.name, slice: { ...object, ...given, metadata }, uid };
};

function failure(given: Partial<MutationResult>): Partial<Outcome> {
  const { name } = created().metadata;
  const base = { group: 0, index: 0, verb: 'create' as const, resource: 'endpointslices' as const, name };
  return { status: 'conflict', message: 'refused', results: [{ ...base, status: 'failed', ...given }] };
}

describe('applied', () => {
  test("leads to the writer's cooldown, in which later changes wait", () => {
    complete({ cooldownMs: 700 });
    change(aChange(2, [fact.pod('q')]));
    expect(slicesState()).toMatchObject({ timers: { dueAt: now, cooldownUntil: now + 700 } });
    expect(dueAt(state, 'endpointslice')).toBe(now + 700);
  });

  test('written objects are known with their stored metadata, and the trackers advance (C17, D18, E30)', () => {
    expect(slicesState().trackers.triggers).toBeNull();
    complete();
    const { name } = created().metadata;
    const { slice, stamp } = state.slices.get(name) ?? {};
    expect(slice).toMatchObject({ metadata: { uid: `stored-${name}`, resourceVersion: '50', generation: 1 } });
    expect(slice?.endpoints).toEqual(created().endpoints);
    expect(stamp).toBeNull();
    expect(slicesState()).toMatchObject({
      inFlight: null,
      timers: { dueAt: null },
      retries: { failures: 0 },
      trackers: { triggers: expect.anything() },
    });
    expect(Object.keys(slicesState().trackers.tracked)).toHaveLength(1);
  });

  test('a deleted object is removed and its deletion expected, and a late watch event does not bring it back (E30)', () => {
    change(aChange(2, [fact.slice('extra', { version: 8 })]));
    complete();
    plan = decided('endpointslice');
    expect(plan.groups[0]?.mutations).toMatchObject([{ verb: 'delete', name: 'extra', uid: 'uid-extra' }]);
    complete();
    expect(state.slices.has('extra')).toBe(false);
    expect(slicesState().trackers.tracked).toMatchObject({ 'uid-extra': -1 });
    change(aChange(3, [fact.slice('extra', { version: 9 })]));
    expect(state.slices.has('extra')).toBe(false);
  });

  test('causes another decision at once if another client wrote the object after the plan', () => {
    change(aChange(2, [watched(51, { endpoints: [] })]));
    complete();
    expect(names()).toEqual([`${created().metadata.name}@51`]);
    expect(slicesState().timers.dueAt).toBe(now);
  });

  test('an object that was read back is taken as stored, and decided again', () => {
    const { name } = created().metadata;
    const current = { ...aSlice(name, { uid: `stored-${name}`, version: 60 }), endpoints: [] };
    complete({ results: allApplied(plan, 60).map((result) => ({ ...result, current })) });
    expect(state.slices.get(name)?.slice).toEqual(current);
    expect(slicesState()).toMatchObject({ inFlight: null, retries: { failures: 0 }, timers: { dueAt: now } });
  });

  test('an object that was read back but is known to be deleted is a conflict: retried with backoff', () => {
    const delays: number[] = [];
    for (let n = 0; n < 5; n++) {
      const current = aSlice(created().metadata.name, { version: 8 });
      complete({ results: allApplied(plan, 8).map((result) => ({ ...result, current })) });
      expect(names()).toEqual([]);
      delays.push((slicesState().timers.dueAt ?? 0) - now);
      plan = decided('endpointslice');
    }
    expect(delays[0]).toBe(0);
    expect(Math.min(...delays.slice(1))).toBeGreaterThan(0);
    expect(slicesState().retries.failures).toBe(5);
  });

  test('a terminating namespace counts as success (B10)', () => {
    complete({ status: 'namespaceTerminating', results: [], message: 'being terminated' });
    expect(slicesState()).toMatchObject({
      inFlight: null,
      timers: { dueAt: null },
      retries: { failures: 0, parked: null },
    });
  });

  test('Endpoints of a Service that lost its selector meanwhile are mirrored, although their watch echo is ignored', () => {
    plan = decided('endpoints');
    change(
      aSnapshot(2, [{ kind: 'service', service: aService({ selector: null }) }], {
        endpointslices: '9',
        endpoints: '9',
      }),
    );
    const mirror = () => state.controller('endpointslicemirroring').timers.dueAt;
    state.setController(
      'endpointslicemirroring',
      aController({ timers: { dueAt: null } }, state.controller('endpointslicemirroring')),
    );
    complete();
    expect(mirror()).toBe(now);
  });
});

describe('the watch echo of an own write (E7)', () => {
  test.each(['before', 'after'])('%s the Outcome causes no decision', (when) => {
    if (when === 'before') change(aChange(2, [watched(50)]));
    complete();
    if (when === 'after') change(aChange(2, [watched(50)]));
    expect(slicesState().timers.dueAt).toBeNull();
    expect(names()).toEqual([`${created().metadata.name}@50`]);
    expect(state.slices.get(created().metadata.name)?.stamp).toEqual({ epoch: 1, sequence: 2 });
  });

  test.each(['before', 'after'])(
    '%s the Outcome keeps the endpoints of the plan by identity, which the next decision recognizes',
    (when) => {
      const copied = () => change(aChange(2, [structuredClone(watched(50))]));
      if (when === 'before') copied();
      complete();
      if (when === 'after') copied();
      expect(state.slices.get(created().metadata.name)?.slice.endpoints).toBe(created().endpoints);
    },
  );

  test('of a later version, written by another client, is not mistaken for the plan', () => {
    change(aChange(2, [watched(51, { endpoints: [] })]));
    complete();
    expect(state.slices.get(created().metadata.name)?.slice.endpoints).toEqual([]);
  });

  test('and a deletion before the Outcome remove the slice', () => {
    const { name } = created().metadata;
    change(aChange(2, [watched(50)]));
    change(aChange(3, [fact.sliceGone(name, `stored-${name}`)]));
    complete();
    expect(names()).toEqual([]);
    expect(slicesState().timers.dueAt).toBe(now);
  });

  test('may be missing if the slice was deleted or relabelled at once: the watcher has passed its resourceVersion', () => {
    change(aChange(2, [], { resourceVersions: { endpoints: '50', endpointslices: '50' } }));
    complete();
    expect(names()).toEqual([]);
    expect(slicesState().timers.dueAt).toBe(now);
  });

  test('may be only the deletion: the slice is created again, at a limited rate', () => {
    for (const at of [now, now + 1000]) {
      const { name } = created().metadata;
      change(aChange(at, [fact.sliceGone(name, `stored-${name}`)]));
      complete();
      expect(slicesState().timers.dueAt).toBe(at);
      plan = decided('endpointslice');
    }
  });

  test('that has not arrived yet keeps the slice known', () => {
    change(aChange(2, [], { resourceVersions: { endpoints: '49', endpointslices: '49' } }));
    complete();
    expect(names()).toEqual([`${created().metadata.name}@50`]);
  });
});

describe('a conflict', () => {
  test('carries the current object, and the first one is retried at once', () => {
    const current = aSlice(created().metadata.name, { uid: 'theirs', version: 60 });
    complete(failure({ current }));
    expect(names()).toEqual([`${current.metadata.name}@60`]);
    expect(slicesState()).toMatchObject({
      inFlight: null,
      timers: { dueAt: now },
      retries: { failures: 1 },
      trackers: { triggers: null },
    });
  });

  test('that repeats is retried with growing delays', () => {
    const delays: number[] = [];
    for (let n = 0; n < 6; n++) {
      complete(failure({}));
      delays.push((slicesState().timers.dueAt ?? 0) - now);
      plan = decided('endpointslice');
    }
    expect(delays[0]).toBe(0);
    for (const [i, delay] of delays.slice(1).entries()) {
      expect(delay).toBeGreaterThanOrEqual((settings.backoff.baseMs * 2 ** (i + 1)) / 2);
      expect(delay).toBeLessThanOrEqual(settings.backoff.baseMs * 2 ** (i + 1));
    }
  });

  test('without object removes it', () => {
    complete();
    const { name } = created().metadata;
    change(aChange(2, [fact.pod('q')]));
    plan = decided('endpointslice');
    const base = { group: 0, index: 0, verb: 'update' as const, resource: 'endpointslices' as const, name };
    complete({ status: 'conflict', results: [{ ...base, status: 'failed', current: null }] });
    expect(names()).toEqual([]);
  });

  test('without object is not undone by a watcher that still lists it', () => {
    const late = watched(60);
    complete();
    change(aChange(2, [fact.pod('q')]));
    const [name = ''] = [...state.slices.keys()];
    plan = decided('endpointslice');
    const base = { group: 0, index: 0, verb: 'update' as const, resource: 'endpointslices' as const, name };
    complete({ status: 'conflict', results: [{ ...base, status: 'failed', current: null }] });
    const resourceVersions = { endpoints: '100', endpointslices: '100' };
    const digest = digestFacts([late]);
    const compared: Change = { ...aChange(3, [late]), resourceVersions, digest };
    change(compared);
    expect(names()).toEqual([]);
    expect(differences(state, compared, now)).not.toContain('slices');
  });

  test('with an object of another Service is not undone by a watcher that still lists it', () => {
    const late = watched(60);
    complete();
    const [name = ''] = [...state.slices.keys()];
    change(aChange(2, [late]));
    change(aChange(3, [fact.pod('q')]));
    plan = decided('endpointslice');
    const base = { group: 0, index: 0, verb: 'update' as const, resource: 'endpointslices' as const, name };
    const current = relabelled(aSlice(name, { uid: `stored-${name}`, version: 70 }));
    complete({ status: 'conflict', results: [{ ...base, status: 'failed', current }] });
    const resourceVersions = { endpoints: '60', endpointslices: '60' };
    const compared: Change = { ...aChange(4, [late]), resourceVersions, digest: digestFacts([late]) };
    change(compared);
    expect(differences(state, compared, now)).not.toContain('slices');
    plan = decided('endpointslice');
    expect(plan.groups[0]?.mutations).toMatchObject([{ verb: 'create' }]);
    change(aChange(5, [{ kind: 'slice', name, slice: null, uid: `stored-${name}`, relabelled: true }]));
    expect(names()).toEqual([]);
  });

  test('without object keeps another one that was created under the name meanwhile', () => {
    change(aChange(2, [fact.endpoints({ uid: 'first', version: 20 })]));
    plan = decided('endpoints');
    change(aChange(3, [fact.endpointsGone('first')]));
    change(aChange(4, [fact.endpoints({ uid: 'second', version: 30 })]));
    const base = { group: 0, index: 0, verb: 'update' as const, resource: 'endpoints' as const, name: 'web' };
    complete({ status: 'conflict', results: [{ ...base, status: 'failed', current: null }] });
    expect(state.endpoints?.endpoints.metadata).toMatchObject({ uid: 'second' });
  });

  test.each<[string, EndpointSlice]>([
    ['of another Service', relabelled(aSlice('x', { version: 60 }))],
    ['known to be deleted', aSlice('gone', { version: 60 })],
    ['that is older than what the watcher has published', aSlice('x', { version: 8 })],
  ])('ignores an object %s', (_, current) => {
    change(aChange(2, [fact.sliceGone('gone')], { resourceVersions: { endpoints: '100', endpointslices: '100' } }));
    complete(failure({ name: current.metadata.name, current }));
    expect(names()).toEqual([]);
  });

  test('ignores an object that is older than the known one', () => {
    change(aChange(2, [fact.slice('x', { uid: 'second', version: 70 })]));
    complete(failure({ name: 'x', current: aSlice('x', { uid: 'first', version: 60 }) }));
    expect(names()).toEqual(['x@70']);
  });

  test('of Endpoints carries the current object', () => {
    plan = decided('endpoints');
    const base = { group: 0, index: 0, verb: 'create' as const, resource: 'endpoints' as const, name: 'web' };
    complete({ status: 'conflict', results: [{ ...base, status: 'failed', current: someEndpoints({ version: 33 }) }] });
    expect(state.endpoints?.endpoints.metadata.resourceVersion).toBe('33');
    expect(decided('endpoints').groups[0]?.mutations).toMatchObject([
      { verb: 'update', object: { metadata: { resourceVersion: '33' } } },
    ]);
  });
});

describe('a failed plan', () => {
  test.each(['unavailable', 'rejected'] as const)(
    '%s: is decided again later, with its causes and trigger time (B11, D18)',
    (status) => {
      const { causes } = plan;
      const annotation = created().metadata.annotations;
      complete({ status, results: [], message: 'no' });
      expect(slicesState()).toMatchObject({ inFlight: null, trackers: { triggers: null, hints: null }, causes });
      expect(slicesState()).toMatchObject({
        retries: status === 'rejected' ? { failures: 0, parked: 'no' } : { failures: 1, parked: null },
      });
      expect(slicesState().timers.dueAt).toBeGreaterThan(now);
      plan = decided('endpointslice');
      expect(plan.plan.number).toBe(2);
      expect(created().metadata.annotations).toEqual(annotation);
    },
  );

  test('keeps what it wrote before it failed', () => {
    const [result] = allApplied(plan);
    complete({ status: 'unavailable', results: result === undefined ? [] : [result], message: 'no' });
    expect(names()).toEqual([`${created().metadata.name}@50`]);
  });

  test.each<[string, () => Partial<Outcome>]>([
    ['was returned unsent by a new owner', () => ({ status: 'conflict', results: [] })],
    ['got no answer', () => ({ ...failure({ error: 'timed out' }), status: 'unavailable' })],
    ['made no slice yet, after a first request without an answer', () => failure({ current: null })],
  ])('that %s is replaced under the same names, so late requests meet AlreadyExists', (_, outcomeOf) => {
    const outcome = outcomeOf();
    const [first] = plannedNames();
    complete(outcome);
    change(aChange(2, [fact.pod('q')]));
    plan = decided('endpointslice');
    expect(plannedNames()).toEqual([first]);
    complete(outcome);
    plan = decided('endpointslice');
    expect(plan.plan.number).toBe(3);
    expect(plannedNames()).toEqual([first]);
  });

  test.each<[string, Partial<Outcome>]>([
    ['is applied', {}],
    ['fails too', { status: 'unavailable', results: [], message: 'no' }],
  ])('without an answer lends its names beyond a plan that creates nothing and %s', (_, outcome) => {
    const [first] = plannedNames();
    complete({ ...failure({ error: 'timed out' }), status: 'unavailable' });
    change(aChange(2, [fact.slice('extra', { version: 10 })]));
    plan = decided('endpointslice');
    expect(plan.groups[0]?.mutations).toMatchObject([{ verb: 'update', object: { metadata: { name: 'extra' } } }]);
    complete(outcome);
    change(aChange(3, [fact.sliceGone('extra', state.slices.get('extra')?.slice.metadata.uid)]));
    plan = decided('endpointslice');
    expect(plannedNames()).toEqual([first]);
  });

  test('whose create met a slice of another Service is replaced under a new name', () => {
    const [first] = plannedNames();
    complete(failure({ current: relabelled(aSlice('x', { version: 60 })) }));
    plan = decided('endpointslice');
    expect(plannedNames()).not.toEqual([first]);
  });

  test('with a create that met a slice of another Service keeps only the names of its other creates', () => {
    change(aChange(2, [{ kind: 'service', service: aService({ ipFamilies: ['IPv4', 'IPv6'] }) }]));
    complete({ status: 'conflict', results: [] });
    plan = decided('endpointslice');
    const [first, second] = plannedNames();
    expect(second).toBeDefined();
    for (let attempt = 0; attempt < 2; attempt++) {
      complete(failure(attempt === 0 ? { current: relabelled(aSlice(first ?? '')) } : { error: 'timed out' }));
      plan = decided('endpointslice');
      expect(plannedNames()).not.toContain(first);
      expect(plannedNames()).toContain(second);
    }
  });

  test('lends no names to later plans once its replacement is applied', () => {
    complete({ status: 'conflict', results: [] });
    plan = decided('endpointslice');
    const [first] = plannedNames();
    complete();
    change(aChange(2, [fact.sliceGone(first ?? '', `stored-${first}`)]));
    plan = decided('endpointslice');
    expect(plannedNames()).toHaveLength(1);
    expect(plannedNames()).not.toEqual([first]);
  });

  test('does not delay changes that arrived meanwhile', () => {
    change(aChange(2, [fact.pod('q')]));
    complete({ status: 'unavailable', results: [], message: 'no' });
    expect(slicesState().timers.dueAt).toBe(now);
    expect(slicesState().causes.first.map(({ description }) => description)).toEqual(['change 2']);
  });

  test("is retried when the writer's limit of retries permits it, and with a change at once (B3)", () => {
    complete({ status: 'unavailable', results: [], message: 'no', retryAfterMs: 90_000 });
    expect(slicesState()).toMatchObject({
      timers: { dueAt: now + 90_000, delayedUntil: now + 90_000 },
      retries: { retryAfterMs: 90_000 },
    });
    change(aChange(2, [fact.pod('q')]));
    expect(slicesState().timers.dueAt).toBe(now);
  });

  test('counts the requests that the writer retried', () => {
    complete({ status: 'unavailable', results: [], retries: 3 });
    expect(slicesState().retries.failures).toBe(4);
  });

  test(`parks the key after ${settings.maxAttempts} requests, for one to two minutes (B4)`, () => {
    for (let n = 1; n < settings.maxAttempts; n++) {
      complete({ status: 'unavailable', results: [], message: 'no answer' });
      expect(slicesState().retries.parked).toBeNull();
      plan = decided('endpointslice');
    }
    complete({ status: 'unavailable', results: [], message: 'no answer', causes: whatHappened('cause') });
    expect(slicesState()).toMatchObject({
      retries: { parked: 'no answer', parkedSince: now, failures: 0 },
      causes: whatHappened('cause'),
    });
    const wait = (slicesState().timers.dueAt ?? 0) - now;
    expect(wait).toBeGreaterThanOrEqual(60_000);
    expect(wait).toBeLessThanOrEqual(120_000);
  });

  test('parks the key at once if it was rejected: it would be rejected again', () => {
    complete({ status: 'rejected', results: [], message: 'forbidden' });
    expect(slicesState()).toMatchObject({ retries: { parked: 'forbidden', parkedSince: now, failures: 0 } });
  });

  test('remembers until the next Outcome whether a guard held the plan back', () => {
    complete({ status: 'rejected', results: [], message: 'removal held back', heldBack: true });
    expect(slicesState().retries.heldBack).toBe(true);
    change(aChange(2, [fact.pod('q')]));
    plan = decided('endpointslice');
    complete({ status: 'conflict', results: [], message: 'removal', heldBack: true });
    expect(slicesState().retries.heldBack).toBe(true);
    change(aChange(3, [fact.pod('r')]));
    plan = decided('endpointslice');
    complete({ status: 'conflict', results: [], message: 'the object has been modified' });
    expect(slicesState().retries.heldBack).toBe(false);
    change(aChange(4, [fact.pod('s')]));
    plan = decided('endpointslice');
    complete();
    expect(slicesState().retries.heldBack).toBeUndefined();
  });

  test('keeps the time of the first parking until a plan succeeds', () => {
    complete({ status: 'rejected', results: [], message: 'forbidden' });
    const later = now + 60_000;
    change(aChange(2, [fact.pod('q')]));
    plan = decided('endpointslice');
    complete({ status: 'rejected', results: [], message: 'still forbidden' }, later);
    expect(slicesState()).toMatchObject({ retries: { parked: 'still forbidden', parkedSince: now } });
    change(aChange(3, [fact.pod('r')]));
    plan = decided('endpointslice');
    complete();
    expect(slicesState()).toMatchObject({ retries: { parked: null, parkedSince: null } });
  });

  test('is not parked if a change arrived meanwhile', () => {
    state.setController('endpointslice', {
      ...slicesState(),
      retries: { ...slicesState().retries, failures: settings.maxAttempts },
    });
    change(aChange(2, [fact.pod('q')]));
    complete({ status: 'rejected', results: [], message: 'forbidden' });
    expect(slicesState()).toMatchObject({ retries: { parked: null, failures: 0 }, timers: { dueAt: now } });
  });

  test('a parked key gets the full number of attempts after a change', () => {
    state.setController('endpointslice', {
      ...slicesState(),
      retries: { ...slicesState().retries, failures: settings.maxAttempts },
    });
    complete({ status: 'rejected', results: [], message: 'forbidden' });
    change(aChange(2, [fact.pod('q')]));
    expect(slicesState()).toMatchObject({ retries: { parked: null, failures: 0 }, timers: { dueAt: now } });
  });

  test('a success resets the failures (B5)', () => {
    complete({ status: 'unavailable', results: [], message: 'no' });
    plan = decided('endpointslice');
    complete();
    expect(slicesState().retries.failures).toBe(0);
  });
});

describe('an Outcome of no plan in flight', () => {
  const before = () => ({ slices: names(), controllerState: slicesState() });

  test.each<[string, Partial<Outcome>]>([
    ['of an earlier plan', { plan: { epoch: 1, number: 0 } }],
    ['of a later plan', { plan: { epoch: 1, number: 2 } }],
    ['of another owner', { plan: { epoch: 2, number: 1 } }],
    ['of another controller', { controller: 'endpoints' }],
  ])('%s changes nothing', (_, given) => {
    const was = before();
    complete(given);
    expect(before()).toEqual(was);
  });

  test('that is a duplicate changes nothing', () => {
    complete();
    const was = before();
    complete({ status: 'conflict' });
    expect(before()).toEqual(was);
  });
});

function relabelled(slice: EndpointSlice): EndpointSlice {
  const labels = { ...slice.metadata.labels, 'kubernetes.io/service-name': 'db' };
  return { ...slice, metadata: { ...slice.metadata, labels } };
}

test('changes that arrive while a plan is in flight lead to one decision', () => {
  for (let n = 2; n < 20; n++) change(aChange(n, [fact.pod(`p${n}`)]));
  expect(state.pods.get('p2')?.pod).toEqual(aPod('p2'));
  complete();
  expect(slicesState().timers.dueAt).toBe(now);
  expect(slicesState().causes).toMatchObject({ first: { length: 8 }, more: 10 });
});
