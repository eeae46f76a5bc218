import type { Controller, EndpointSlice, Mutation } from '@sluice/controllers';
import { type Fact, type MutationResult, noCauses, type Outcome, type PlannedMutations } from '@sluice/messages';
import { beforeEach, describe, expect, test } from 'vitest';
import { applyChange } from './apply-change.ts';
import { applyOutcome } from './apply-outcome.ts';
import { decide, decisionOrder } from './decide.ts';
import { ServiceState } from './service-state.ts';
import { defaultSettings } from './settings.ts';
import { aChange, allApplied, anOutcome, aSnapshot, fact, key, whatHappened } from './testing/messages.ts';
import { aPod, aService, aSlice, someEndpoints } from './testing/objects.ts';

const now = 1_000_000;
const settings = defaultSettings;
let view: ServiceState;
let plan: PlannedMutations;
let plans: number;

/** The EndpointSlice controller has one plan in flight: to create the first slice. */
beforeEach(() => {
  plans = 0;
  view = new ServiceState(key);
  change(
    aSnapshot(1, [{ kind: 'service', service: aService() }, fact.pod('p')], { endpoints: '9', endpointslices: '9' }),
  );
  for (const controller of decisionOrder) {
    view.setController(controller, { ...view.controller(controller), dueAt: null, causes: noCauses });
  }
  plan = decided('endpointslice');
});

function change(given: Parameters<typeof applyChange>[1]): void {
  applyChange(view, given, now, settings);
}

function decided(controller: Controller): PlannedMutations {
  const made = decide(view, controller, () => ({ epoch: 1, number: ++plans }), now, settings).plan;
  if (made === undefined) throw new Error(`${controller} wants nothing`);
  return made;
}

function fold(outcome: Partial<Outcome> = {}, at = now): void {
  applyOutcome(view, anOutcome(plan, outcome), at, settings);
}

const state = () => view.controller('endpointslice');
const names = () => [...view.slices].map(([name, { slice }]) => `${name}@${slice.metadata.resourceVersion}`);
const created = (): EndpointSlice => {
  const mutation: Mutation | undefined = plan.groups[0]?.mutations[0];
  if (mutation?.verb !== 'create' || mutation.resource !== 'endpointslices') throw new Error('no slice is created');
  return mutation.object;
};
/** As the watch shows what the plan created. */
const echo = (version: number, given: Partial<EndpointSlice> = {}): Fact => {
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
  test('what was written is known with the metadata of what is stored, and the trackers move (C17, E30)', () => {
    expect(state().triggers).toBeNull();
    fold();
    const { name } = created().metadata;
    const { slice, stamp } = view.slices.get(name) ?? {};
    expect(slice).toMatchObject({ metadata: { uid: `stored-${name}`, resourceVersion: '50', generation: 1 } });
    expect(slice?.endpoints).toEqual(created().endpoints);
    expect(stamp).toBeNull();
    expect(state()).toMatchObject({ inFlight: null, dueAt: null, failures: 0, triggers: expect.anything() });
    expect(Object.keys(state().tracked)).toHaveLength(1);
  });

  test('a deleted object is gone, and a late echo does not bring it back', () => {
    change(aChange(2, [fact.slice('extra', { version: 8 })]));
    fold();
    plan = decided('endpointslice');
    expect(plan.groups[0]?.mutations).toMatchObject([{ verb: 'delete', name: 'extra', uid: 'uid-extra' }]);
    fold();
    expect(view.slices.has('extra')).toBe(false);
    change(aChange(3, [fact.slice('extra', { version: 9 })]));
    expect(view.slices.has('extra')).toBe(false);
  });

  test('causes another decision at once if somebody wrote the object after the plan did', () => {
    change(aChange(2, [echo(51, { endpoints: [] })]));
    fold();
    expect(names()).toEqual([`${created().metadata.name}@51`]);
    expect(state().dueAt).toBe(now);
  });

  test('what had to be read back is taken as it is there, and looked at again', () => {
    const { name } = created().metadata;
    const current = { ...aSlice(name, { uid: `stored-${name}`, version: 60 }), endpoints: [] };
    fold({ results: allApplied(plan, 60).map((result) => ({ ...result, current })) });
    expect(view.slices.get(name)?.slice).toEqual(current);
    expect(state()).toMatchObject({ inFlight: null, failures: 0, dueAt: now });
  });

  test('what had to be read back, but is known to be gone, is a conflict: decided anew with growing pauses', () => {
    const delays: number[] = [];
    for (let n = 0; n < 5; n++) {
      const current = aSlice(created().metadata.name, { version: 8 });
      fold({ results: allApplied(plan, 8).map((result) => ({ ...result, current })) });
      expect(names()).toEqual([]);
      delays.push((state().dueAt ?? 0) - now);
      plan = decided('endpointslice');
    }
    expect(delays[0]).toBe(0);
    expect(Math.min(...delays.slice(1))).toBeGreaterThan(0);
    expect(state().failures).toBe(5);
  });

  test('a namespace that is going away counts as done (B10)', () => {
    fold({ status: 'namespaceTerminating', results: [], message: 'being terminated' });
    expect(state()).toMatchObject({ inFlight: null, dueAt: null, failures: 0, parked: null });
  });

  test('Endpoints of a Service that lost its selector meanwhile are mirrored, though their echo is no news', () => {
    plan = decided('endpoints');
    change(
      aSnapshot(2, [{ kind: 'service', service: aService({ selector: null }) }], {
        endpointslices: '9',
        endpoints: '9',
      }),
    );
    const mirror = () => view.controller('endpointslicemirroring').dueAt;
    view.setController('endpointslicemirroring', { ...view.controller('endpointslicemirroring'), dueAt: null });
    fold();
    expect(mirror()).toBe(now);
  });
});

describe('the echo of an own write (E7)', () => {
  test.each(['before', 'after'])('%s the Outcome is no news', (when) => {
    if (when === 'before') change(aChange(2, [echo(50)]));
    fold();
    if (when === 'after') change(aChange(2, [echo(50)]));
    expect(state().dueAt).toBeNull();
    expect(names()).toEqual([`${created().metadata.name}@50`]);
    expect(view.slices.get(created().metadata.name)?.stamp).toEqual({ epoch: 1, sequence: 2 });
  });

  test.each(['before', 'after'])(
    '%s the Outcome leaves the very endpoints of the plan, which the next decision knows',
    (when) => {
      const copied = () => change(aChange(2, [structuredClone(echo(50))]));
      if (when === 'before') copied();
      fold();
      if (when === 'after') copied();
      expect(view.slices.get(created().metadata.name)?.slice.endpoints).toBe(created().endpoints);
    },
  );

  test('that is a later version, written by somebody else, is not taken for the plan', () => {
    change(aChange(2, [echo(51, { endpoints: [] })]));
    fold();
    expect(view.slices.get(created().metadata.name)?.slice.endpoints).toEqual([]);
  });

  test('may be followed by its deletion before the Outcome comes: the slice is not believed in any more', () => {
    const { name } = created().metadata;
    change(aChange(2, [echo(50)]));
    change(aChange(3, [fact.sliceGone(name, `stored-${name}`)]));
    fold();
    expect(names()).toEqual([]);
    expect(state().dueAt).toBe(now);
  });

  test('may never be seen, if the slice was deleted or relabelled at once: the watcher has come further by then', () => {
    change(aChange(2, [], { resourceVersions: { endpoints: '50', endpointslices: '50' } }));
    fold();
    expect(names()).toEqual([]);
    expect(state().dueAt).toBe(now);
  });

  test('may be heard of only as gone: the slice is created again, though not ever faster', () => {
    for (const at of [now, now + 1000]) {
      const { name } = created().metadata;
      change(aChange(at, [fact.sliceGone(name, `stored-${name}`)]));
      fold();
      expect(state().dueAt).toBe(at);
      plan = decided('endpointslice');
    }
  });

  test('that is yet to come leaves the slice known', () => {
    change(aChange(2, [], { resourceVersions: { endpoints: '49', endpointslices: '49' } }));
    fold();
    expect(names()).toEqual([`${created().metadata.name}@50`]);
  });
});

describe('a conflict', () => {
  test('brings what is there now, and is decided anew at once the first time', () => {
    const current = aSlice(created().metadata.name, { uid: 'theirs', version: 60 });
    fold(failure({ current }));
    expect(names()).toEqual([`${current.metadata.name}@60`]);
    expect(state()).toMatchObject({ inFlight: null, dueAt: now, failures: 1, triggers: null });
  });

  test('the next ones wait a growing time', () => {
    const delays: number[] = [];
    for (let n = 0; n < 6; n++) {
      fold(failure({}));
      delays.push((state().dueAt ?? 0) - now);
      plan = decided('endpointslice');
    }
    expect(delays[0]).toBe(0);
    for (const [i, delay] of delays.slice(1).entries()) {
      expect(delay).toBeGreaterThanOrEqual((settings.backoff.baseMs * 2 ** (i + 1)) / 2);
      expect(delay).toBeLessThanOrEqual(settings.backoff.baseMs * 2 ** (i + 1));
    }
  });

  test('says that there is nothing', () => {
    fold();
    const { name } = created().metadata;
    change(aChange(2, [fact.pod('q')]));
    plan = decided('endpointslice');
    const base = { group: 0, index: 0, verb: 'update' as const, resource: 'endpointslices' as const, name };
    fold({ status: 'conflict', results: [{ ...base, status: 'failed', current: null }] });
    expect(names()).toEqual([]);
  });

  test('says that there is nothing, of what it was to write: another of that name came meanwhile', () => {
    change(aChange(2, [fact.endpoints({ uid: 'first', version: 20 })]));
    plan = decided('endpoints');
    change(aChange(3, [fact.endpointsGone('first')]));
    change(aChange(4, [fact.endpoints({ uid: 'second', version: 30 })]));
    const base = { group: 0, index: 0, verb: 'update' as const, resource: 'endpoints' as const, name: 'web' };
    fold({ status: 'conflict', results: [{ ...base, status: 'failed', current: null }] });
    expect(view.endpoints?.endpoints.metadata).toMatchObject({ uid: 'second' });
  });

  test.each<[string, EndpointSlice]>([
    ['that is not of this Service any more', relabelled(aSlice('x', { version: 60 }))],
    ['that is known to be deleted', aSlice('gone', { version: 60 })],
    ['that the watcher has come past without it', aSlice('x', { version: 8 })],
  ])('shows an object %s', (_, current) => {
    change(aChange(2, [fact.sliceGone('gone')]));
    fold(failure({ name: current.metadata.name, current }));
    expect(names()).toEqual([]);
  });

  test('shows an object that is older than what is known', () => {
    change(aChange(2, [fact.slice('x', { uid: 'second', version: 70 })]));
    fold(failure({ name: 'x', current: aSlice('x', { uid: 'first', version: 60 }) }));
    expect(names()).toEqual(['x@70']);
  });

  test('of Endpoints brings theirs', () => {
    plan = decided('endpoints');
    const base = { group: 0, index: 0, verb: 'create' as const, resource: 'endpoints' as const, name: 'web' };
    fold({ status: 'conflict', results: [{ ...base, status: 'failed', current: someEndpoints({ version: 33 }) }] });
    expect(view.endpoints?.endpoints.metadata.resourceVersion).toBe('33');
    expect(decided('endpoints').groups[0]?.mutations).toMatchObject([
      { verb: 'update', object: { metadata: { resourceVersion: '33' } } },
    ]);
  });
});

describe('a plan that came to nothing', () => {
  test.each(['unavailable', 'rejected'] as const)(
    '%s: is decided anew, later, with its causes and trigger time (B11, D18)',
    (status) => {
      const { causes } = plan;
      const annotation = created().metadata.annotations;
      fold({ status, results: [], message: 'no' });
      expect(state()).toMatchObject({ inFlight: null, triggers: null, hints: null, causes });
      expect(state()).toMatchObject(
        status === 'rejected' ? { failures: 0, parked: 'no' } : { failures: 1, parked: null },
      );
      expect(state().dueAt).toBeGreaterThan(now);
      plan = decided('endpointslice');
      expect(plan.plan.number).toBe(2);
      expect(created().metadata.annotations).toEqual(annotation);
    },
  );

  test('keeps what was written before it failed', () => {
    const [result] = allApplied(plan);
    fold({ status: 'unavailable', results: result === undefined ? [] : [result], message: 'no' });
    expect(names()).toEqual([`${created().metadata.name}@50`]);
  });

  test('waits no longer than what came meanwhile asks for', () => {
    change(aChange(2, [fact.pod('q')]));
    fold({ status: 'unavailable', results: [], message: 'no' });
    expect(state().dueAt).toBe(now);
    expect(state().causes.first.map(({ description }) => description)).toEqual(['change 2']);
  });

  test('counts the requests that the writer repeated', () => {
    fold({ status: 'unavailable', results: [], retries: 3 });
    expect(state().failures).toBe(4);
  });

  test(`parks the key after ${settings.maxAttempts} requests, for one to two minutes (B4)`, () => {
    for (let n = 1; n < settings.maxAttempts; n++) {
      fold({ status: 'unavailable', results: [], message: 'no answer' });
      expect(state().parked).toBeNull();
      plan = decided('endpointslice');
    }
    fold({ status: 'unavailable', results: [], message: 'no answer', causes: whatHappened('cause') });
    expect(state()).toMatchObject({
      parked: 'no answer',
      parkedSince: now,
      failures: 0,
      causes: whatHappened('cause'),
    });
    const wait = (state().dueAt ?? 0) - now;
    expect(wait).toBeGreaterThanOrEqual(60_000);
    expect(wait).toBeLessThanOrEqual(120_000);
  });

  test('parks the key at once when it was refused for good: it would only be refused again', () => {
    fold({ status: 'rejected', results: [], message: 'forbidden' });
    expect(state()).toMatchObject({ parked: 'forbidden', parkedSince: now, failures: 0 });
  });

  test('remembers since when the key is parked, whatever is tried in between, until it goes through', () => {
    fold({ status: 'rejected', results: [], message: 'forbidden' });
    const later = now + 60_000;
    change(aChange(2, [fact.pod('q')]));
    plan = decided('endpointslice');
    fold({ status: 'rejected', results: [], message: 'still forbidden' }, later);
    expect(state()).toMatchObject({ parked: 'still forbidden', parkedSince: now });
    change(aChange(3, [fact.pod('r')]));
    plan = decided('endpointslice');
    fold();
    expect(state()).toMatchObject({ parked: null, parkedSince: null });
  });

  test('is not parked if something came meanwhile', () => {
    view.setController('endpointslice', { ...state(), failures: settings.maxAttempts });
    change(aChange(2, [fact.pod('q')]));
    fold({ status: 'rejected', results: [], message: 'forbidden' });
    expect(state()).toMatchObject({ parked: null, failures: 0, dueAt: now });
  });

  test('a parked key is tried in full again after a change', () => {
    view.setController('endpointslice', { ...state(), failures: settings.maxAttempts });
    fold({ status: 'rejected', results: [], message: 'forbidden' });
    change(aChange(2, [fact.pod('q')]));
    expect(state()).toMatchObject({ parked: null, failures: 0, dueAt: now });
  });

  test('a success in between forgets the failures (B5)', () => {
    fold({ status: 'unavailable', results: [], message: 'no' });
    plan = decided('endpointslice');
    fold();
    expect(state().failures).toBe(0);
  });
});

describe('an Outcome that is not awaited', () => {
  const before = () => ({ slices: names(), state: state() });

  test.each<[string, Partial<Outcome>]>([
    ['of an earlier plan', { plan: { epoch: 1, number: 0 } }],
    ['of a later plan', { plan: { epoch: 1, number: 2 } }],
    ['of another owner', { plan: { epoch: 2, number: 1 } }],
    ['of another controller', { controller: 'endpoints' }],
  ])('%s changes nothing', (_, given) => {
    const was = before();
    fold(given);
    expect(before()).toEqual(was);
  });

  test('that comes twice counts once', () => {
    fold();
    const was = before();
    fold({ status: 'conflict' });
    expect(before()).toEqual(was);
  });
});

function relabelled(slice: EndpointSlice): EndpointSlice {
  const labels = { ...slice.metadata.labels, 'kubernetes.io/service-name': 'db' };
  return { ...slice, metadata: { ...slice.metadata, labels } };
}

test('what is folded meanwhile leads to one decision afterwards', () => {
  for (let n = 2; n < 20; n++) change(aChange(n, [fact.pod(`p${n}`)]));
  expect(view.pods.get('p2')?.pod).toEqual(aPod('p2'));
  fold();
  expect(state().dueAt).toBe(now);
  expect(state().causes).toMatchObject({ first: { length: 8 }, more: 10 });
});
