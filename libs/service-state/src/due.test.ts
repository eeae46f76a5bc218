import type { Controller } from '@sluice/model';
import { beforeEach, describe, expect, test } from 'vitest';
import { type ControllerState, initialControllerState, type Timers } from './controller-state.ts';
import { dueAt, isDisposable, isDue, nextDueAt, WorkSet, wantsDecisionAt } from './due.ts';
import { ServiceState } from './service-state.ts';
import { defaultSettings } from './settings.ts';
import { given, startTime } from './testing/given.ts';
import { aSnapshot, fact, key, whatHappened } from './testing/messages.ts';
import { aController, aPod, aService, aSlice, type GivenParts, someEndpoints } from './testing/objects.ts';

function stateWith(times: Partial<Record<Controller, number>>, complete = true): ServiceState {
  const state = new ServiceState(key);
  state.setSnapshot({ ...state.snapshot, complete });
  for (const [controller, at] of Object.entries(times))
    state.setController(controller, aController({ timers: { dueAt: at ?? null } }));
  return state;
}

test.each<[Partial<Record<Controller, number>>, number | null]>([
  [{}, null],
  [{ endpoints: 7 }, 7],
  [{ endpoints: 7, endpointslice: 5 }, 5],
  [{ endpoints: 5, endpointslice: 7 }, 5],
  [{ endpoints: 7, endpointslice: 5, endpointslicemirroring: 6 }, 5],
])('a Service with controllers due at %j is due at %s', (times, at) => {
  expect(nextDueAt(stateWith(times), 0)).toBe(at);
});

test('nothing is due without a complete snapshot', () => {
  expect(nextDueAt(stateWith({ endpoints: 7 }, false), 0)).toBeNull();
  const open = stateWith({ endpoints: 7 });
  const resourceVersions = { endpoints: '', endpointslices: '' };
  const since = { epoch: 1, sequence: 1 };
  open.setSnapshot({ ...open.snapshot, open: { since, initial: false, resourceVersions } });
  expect(dueAt(open, 'endpoints')).toBeNull();
});

test('nothing is due between two Changes of a batch', () => {
  const state = stateWith({ endpoints: 7 });
  state.setSnapshot({ ...state.snapshot, partial: true });
  expect(dueAt(state, 'endpoints')).toBeNull();
});

test('a controller is due from its time on', () => {
  const state = stateWith({ endpoints: 7 });
  expect([6, 7, 8].map((now) => isDue(state, 'endpoints', now))).toEqual([false, true, true]);
  expect(isDue(state, 'endpointslice', 8)).toBe(false);
});

const batch = { until: 100, maxWaitMs: 30, appliedAt: 0, changesPerMs: 1, writeMs: 1 };

test.each<[string, Partial<Timers>, number | null]>([
  ['nothing is requested', { cooldownUntil: 90, batch }, null],
  ['it is requested', { dueAt: 50 }, 50],
  ['zone ratios changed', { topologyDueAt: 60 }, 60],
  ['zone ratios changed and it is requested before', { dueAt: 50, topologyDueAt: 60 }, 50],
  ['zone ratios changed and it is requested later', { dueAt: 70, topologyDueAt: 60 }, 60],
  ['a write is still fresh', { dueAt: 50, cooldownUntil: 55 }, 55],
  ['a write was long ago', { dueAt: 50, cooldownUntil: 45 }, 50],
  ['a batch collects for as long as it may', { dueAt: 50, batch }, 80],
  ['a batch ends before', { dueAt: 50, batch: { ...batch, until: 65 } }, 65],
  ['a batch has ended', { dueAt: 50, batch: { ...batch, until: 40 } }, 50],
])('a decision, if %s, is at its time', (_, given, at) => {
  expect(wantsDecisionAt({ ...initialControllerState.timers, ...given })).toBe(at);
});

const stamp = { epoch: 1, sequence: 1 };

/** A Service that was deleted, and whose objects are gone. */
function emptied(): ServiceState {
  const state = new ServiceState(key);
  state.setService({ service: null, stamp });
  state.setSnapshot({ ...state.snapshot, complete: true });
  return state;
}

test('a state with nothing left is disposable, also before its first snapshot', () => {
  expect(isDisposable(emptied(), startTime)).toBe(true);
  expect(isDisposable(new ServiceState(key), startTime)).toBe(true);
});

test.each<[string, (state: ServiceState) => void]>([
  ['its Service exists', (state) => state.setService({ service: aService(), stamp })],
  ['its Endpoints exist', (state) => state.setEndpoints({ endpoints: someEndpoints(), stamp })],
  ['a Pod exists', (state) => state.setPod('p', { pod: aPod('p'), node: null, stamp })],
  ['a slice exists', (state) => state.setSlice('s', { slice: aSlice('s'), stamp })],
  [
    'a snapshot is open',
    (state) => {
      const { resourceVersions } = state.snapshot;
      state.setSnapshot({ ...state.snapshot, open: { since: stamp, initial: false, resourceVersions } });
    },
  ],
  ['the rest of a batch is awaited', (state) => state.setSnapshot({ ...state.snapshot, partial: true })],
  [
    'its Endpoints are still to be published and deleted',
    (state) => {
      state.setOrphaned(true);
      state.setSnapshot({ ...state.snapshot, complete: false });
    },
  ],
  [
    'a decision is due',
    (state) =>
      state.setController('endpoints', aController({ timers: { dueAt: startTime } }, state.controller('endpoints'))),
  ],
  [
    'one of its controllers is parked',
    (state) =>
      state.setController(
        'endpoints',
        aController({ retries: { parked: 'forbidden' } }, state.controller('endpoints')),
      ),
  ],
  [
    'a plan is in flight',
    (state) => {
      const { inFlight } = given(aSnapshot(1, [{ kind: 'service', service: aService() }, fact.pod('p')]))
        .when()
        .state.controller('endpointslice');
      expect(inFlight).not.toBeNull();
      state.setController('endpointslice', { ...state.controller('endpointslice'), inFlight });
    },
  ],
])('a state is kept while %s', (_, keep) => {
  const state = emptied();
  keep(state);
  expect(isDisposable(state, startTime)).toBe(false);
});

describe('a state of which only an Outcome has reported the last deletion', () => {
  const lagMs = 300_000;
  let state: ServiceState;

  beforeEach(() => {
    state = emptied();
    state.addTombstone({ uid: 's', reportedAt: startTime });
  });

  test('is kept while a watcher may still publish the object, and then dropped', () => {
    expect(isDisposable(state, startTime + lagMs - 1)).toBe(false);
    expect(nextDueAt(state, startTime)).toBe(startTime + lagMs);
    expect(isDisposable(state, startTime + lagMs)).toBe(true);
    expect(nextDueAt(state, startTime + lagMs)).toBeNull();
  });

  test('is dropped once a watcher has published the deletion, or a snapshot is awaited anyway', () => {
    state.setSnapshot({ ...state.snapshot, complete: false });
    expect(isDisposable(state, startTime)).toBe(true);
    state.setSnapshot({ ...state.snapshot, complete: true });
    state.addTombstone({ uid: 's', resourceVersion: '9' });
    expect(isDisposable(state, startTime)).toBe(true);
  });

  test('is not due for it while its Service exists', () => {
    state.setService({ service: aService(), stamp });
    expect(nextDueAt(state, startTime)).toBeNull();
  });
});

test('Endpoints that were deleted with their Service need nothing more', () => {
  const state = emptied();
  state.setOrphaned(true);
  expect(isDisposable(state, startTime)).toBe(true);
});

test('a decision that is due without a snapshot is never made', () => {
  const state = emptied();
  state.setSnapshot({ ...state.snapshot, complete: false });
  state.setController('endpoints', aController({ timers: { dueAt: startTime } }, state.controller('endpoints')));
  expect(isDisposable(state, startTime)).toBe(true);
});

const now = 100;
const causes = whatHappened('this');

/** The state of a controller after the requests. */
function after(
  request: (work: WorkSet) => void,
  controller: Controller = 'endpointslice',
  before: GivenParts = {},
): ControllerState {
  const work = new WorkSet(now);
  request(work);
  return work.applyTo(controller, aController(before), causes, defaultSettings);
}

test('without a request a controller stays the same object', () => {
  const work = new WorkSet(now);
  work.add('endpoints');
  work.repair('endpoints');
  work.addTopology(50);
  const before = initialControllerState;
  expect(work.applyTo('endpointslicemirroring', before, causes, defaultSettings)).toBe(before);
});

test('the earliest of several requests counts, and the shortest delay', () => {
  const requests = (work: WorkSet) => {
    for (const delayMs of [30, 20, 40]) work.add('endpointslice', delayMs);
  };
  expect(after(requests)).toMatchObject({ timers: { dueAt: 120, delayedUntil: 120 } });
  expect(
    after((work) => {
      requests(work);
      work.add('endpointslice');
    }),
  ).toMatchObject({ timers: { dueAt: 100, delayedUntil: 120 } });
});

test('causes count once, however many requests there are', () => {
  const all = (work: WorkSet) => {
    work.add('endpointslice', 30);
    work.add('endpointslice');
    work.addTopology(10);
    work.repair('endpointslice');
  };
  expect(after(all).causes).toEqual(causes);
  expect(after((work) => work.addTopology(10)).causes).toEqual(causes);
  expect(after((work) => work.repair('endpointslice')).causes).toEqual(causes);
});

test('every controller can be requested', () => {
  for (const controller of ['endpoints', 'endpointslice', 'endpointslicemirroring'] as const)
    expect(after((work) => work.addAll(), controller).timers.dueAt).toBe(now);
});

test('zone ratios concern slices, at once or with a delay that an earlier request keeps', () => {
  expect(after((work) => work.addTopology(0))).toMatchObject({ timers: { dueAt: now } });
  expect(after((work) => work.addTopology(0)).timers.topologyDueAt).toBeUndefined();
  expect(after((work) => work.addTopology(50))).toMatchObject({ timers: { dueAt: null, topologyDueAt: 150 } });
  expect(
    after((work) => work.addTopology(50), 'endpointslice', { timers: { topologyDueAt: 120 } }).timers.topologyDueAt,
  ).toBe(120);
  expect(after((work) => work.addTopology(50), 'endpoints')).toEqual(initialControllerState);
});

test('requests for other controllers are ignored', () => {
  const only = (controller: Controller) =>
    after((work) => {
      work.only = new Set([controller]);
      work.add('endpointslice');
      work.addTopology(50);
      work.repair('endpointslice');
    });
  expect(only('endpoints')).toEqual(initialControllerState);
  expect(only('endpointslice')).toMatchObject({
    timers: { dueAt: now, topologyDueAt: 150 },
    repairs: { repairing: true },
  });
});

test('a repair is requested of the controller whose objects were modified', () => {
  const repair = (work: WorkSet) => work.repair('endpoints');
  expect(after(repair, 'endpoints')).toMatchObject({
    timers: { dueAt: now },
    repairs: { repairing: true, repairAt: now },
  });
  expect(after(repair, 'endpointslice')).toEqual(initialControllerState);
});
