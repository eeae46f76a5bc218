import type { Fact, MutationResult, Outcome } from '@sluice/messages';
import type { Controller, MutationGroup } from '@sluice/model';
import { beforeEach, describe, expect, test } from 'vitest';
import { evolve } from './evolve.ts';
import type { ServiceState } from './service-state.ts';
import { defaultSettings, type Settings } from './settings.ts';
import { given, startTime } from './testing/given.ts';
import { aChange, allApplied, anOutcome, aSnapshot, fact } from './testing/messages.ts';
import { aService, aSlice, someEndpoints } from './testing/objects.ts';

const service: Fact = { kind: 'service', service: aService() };
const update = (name: string) =>
  ({ verb: 'update', resource: 'endpointslices', object: aSlice(name, { uid: `uid-${name}` }) }) as const;
const remove = (name: string) => ({ verb: 'delete', resource: 'endpointslices', name, uid: `uid-${name}` }) as const;
let state: ServiceState;

/** Both controllers have a plan in flight. */
beforeEach(() => {
  state = given(aSnapshot(1, [service, fact.pod('p')])).when().state;
});

/** The Outcome of a plan in flight with these writes instead; all are applied unless given otherwise. */
function complete(
  controller: Controller,
  groups: readonly MutationGroup[],
  change: (results: MutationResult[]) => Partial<Outcome> = () => ({}),
  settings: Settings = defaultSettings,
): void {
  const before = state.controller(controller);
  const { inFlight } = before;
  if (inFlight === null) throw new Error('no plan');
  const message = { ...inFlight.message, groups };
  state.setController(controller, { ...before, inFlight: { ...inFlight, message } });
  const results = allApplied(message);
  evolve(state, anOutcome(message, { results, ...change(results) }), startTime, settings);
}

const tracked = (controller: Controller = 'endpointslice') => state.controller(controller).trackers.tracked;

describe('after an Outcome, slices are tracked (C19)', () => {
  test('by their generation if they were written, and as to be deleted if they were deleted', () => {
    complete('endpointslice', [{ mutations: [update('a'), remove('d')] }, { mutations: [update('b')] }]);
    expect(tracked()).toEqual({ 'uid-a': 1, 'uid-b': 1, 'uid-d': -1 });
  });

  test('not as to be deleted if the watch has reported that, or no uid is known', () => {
    evolve(state, aChange(2, [fact.sliceGone('d')]), startTime, defaultSettings);
    const { uid: _uid, ...unknown } = remove('e');
    complete('endpointslice', [{ mutations: [remove('d'), unknown] }]);
    expect(tracked()).toEqual({});
  });

  test('as uncertain if no result says whether the update was stored', () => {
    const groups = [{ mutations: [update('a'), update('b')] }, { mutations: [update('c'), update('d')] }];
    const applied = (results: MutationResult[]) => results.filter(({ name }) => name === 'b' || name === 'c');
    complete('endpointslice', groups, (results) => ({ status: 'unavailable', results: applied(results) }));
    expect(tracked()).toEqual({ 'uid-a': -2, 'uid-b': 1, 'uid-c': 1, 'uid-d': -2 });
  });

  test('as before if their deletion failed', () => {
    const failed = (results: MutationResult[]) => results.map((result) => ({ ...result, status: 'failed' as const }));
    complete('endpointslice', [{ mutations: [remove('d')] }], (results) => ({
      ...{ status: 'conflict', results: failed(results) },
    }));
    expect(tracked()).toEqual({});
  });

  test('but not Endpoints', () => {
    complete('endpoints', [{ mutations: [{ verb: 'update', resource: 'endpoints', object: someEndpoints() }] }]);
    expect(tracked('endpoints')).toEqual({});
  });
});

describe('after an Outcome of Endpoints, mirroring decides', () => {
  const write = [{ mutations: [{ verb: 'update', resource: 'endpoints', object: someEndpoints() } as const] }];
  const withoutSelector = () =>
    state.setService({ service: aService({ selector: null }), stamp: { epoch: 1, sequence: 1 } });
  const mirrors = () => state.controller('endpointslicemirroring').timers.dueAt !== null;

  test('only if they are mirrored', () => {
    complete('endpoints', write);
    expect(mirrors()).toBe(false);
  });

  test('only if they have changed', () => {
    withoutSelector();
    complete('endpoints', write, () => ({ status: 'conflict', results: [] }));
    expect(mirrors()).toBe(false);
  });

  test('only if it is enabled', () => {
    withoutSelector();
    const controllers = new Set<Controller>(['endpoints', 'endpointslice']);
    complete('endpoints', write, () => ({}), { ...defaultSettings, controllers });
    expect(mirrors()).toBe(false);
  });
});
