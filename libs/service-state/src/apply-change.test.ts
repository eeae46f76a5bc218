import { decisionOrder } from '@sluice/controllers';
import { type Change, type Fact, noCauses } from '@sluice/messages';
import type { Controller } from '@sluice/model';
import { beforeEach, describe, expect, test } from 'vitest';
import { decide, planOf } from './decide.ts';
import { isDue } from './due.ts';
import { evolve } from './evolve.ts';
import { ServiceState } from './service-state.ts';
import { defaultSettings, type Settings } from './settings.ts';
import { aChange, aSnapshot, fact, key } from './testing/messages.ts';
import { aController, aPod, aService, aSlice, mirroring, someEndpoints } from './testing/objects.ts';

const now = 1_000_000;
const service: Fact = { kind: 'service', service: aService() };
let state: ServiceState;

beforeEach(() => {
  state = new ServiceState(key);
});

function apply(change: Change, at = now, settings: Settings = defaultSettings): void {
  evolve(state, change, at, settings);
}

/** Clears everything due, so that what is due afterwards follows from later messages. */
function clearDue(): void {
  for (const controller of decisionOrder) {
    state.setController(controller, {
      ...state.controller(controller),
      timers: { ...state.controller(controller).timers, dueAt: null },
      repairs: { ...state.controller(controller).repairs, repairAt: null },
      causes: noCauses,
    });
  }
}

const known = () => ({
  pods: [...state.pods].map(([name, { pod }]) => `${name} ${pod.ready}`).sort(),
  slices: [...state.slices].map(([name, { slice }]) => `${name} ${slice.metadata.resourceVersion}`).sort(),
  endpoints: state.endpoints?.endpoints.metadata.resourceVersion,
  service: state.service?.service?.uid,
});

/** Milliseconds until each controller is due. */
const due = () =>
  Object.fromEntries(
    decisionOrder.flatMap((controller) => {
      const {
        timers: { dueAt },
      } = state.controller(controller);
      return dueAt === null ? [] : [[controller, dueAt - now]];
    }),
  );

describe('order', () => {
  test('an older Change after a newer one changes nothing', () => {
    apply(aSnapshot(1, [service, fact.pod('p', false), fact.pod('q')]));
    apply(aChange(5, [fact.pod('p', true), fact.podGone('q')]));
    clearDue();
    apply(aChange(4, [fact.pod('p', false), fact.pod('q'), fact.noService]));
    expect(known()).toMatchObject({ pods: ['p true'], service: 'service-uid' });
    expect(due()).toEqual({});
  });

  test('a duplicate Change changes nothing', () => {
    apply(aSnapshot(1, [service, fact.pod('p')]));
    clearDue();
    apply(aSnapshot(1, [service, fact.pod('p')]));
    expect(due()).toEqual({});
  });

  test('a Change of an earlier epoch is ignored; one of a later epoch is applied, whatever its sequence', () => {
    apply(aSnapshot([2, 7], [service, fact.pod('p')]));
    apply(aChange([1, 900], [fact.podGone('p')]));
    expect(known().pods).toEqual(['p true']);
    apply(aChange([3, 1], [fact.podGone('p')]));
    expect(known().pods).toEqual([]);
  });

  test.each<[string, Partial<Change>]>([
    [
      'the beginning of a snapshot',
      { snapshot: { first: true, last: false, initial: true, resourceVersions: versions() } },
    ],
    ['the end of a snapshot', { snapshot: { first: false, last: true, initial: true, resourceVersions: versions() } }],
  ])('a late duplicate of %s opens and closes nothing', (_, part) => {
    apply(aSnapshot(3, [service, fact.pod('p')]));
    apply(aChange(4, [], { snapshot: { first: true, last: false, initial: false, resourceVersions: versions() } }));
    apply(aChange(5, [service, fact.pod('p')]));
    apply(aChange(2, [], part));
    expect(state.snapshot.open?.since).toEqual({ epoch: 1, sequence: 4 });
    expect(known().pods).toEqual(['p true']);
    apply(aChange(6, [], { snapshot: { first: false, last: true, initial: false, resourceVersions: versions() } }));
    apply(aChange(2, [], part));
    expect(state.snapshot.open).toBeNull();
    expect(known().pods).toEqual(['p true']);
  });

  test('slices and Endpoints are ordered by resourceVersion, compared as numbers', () => {
    apply(aSnapshot(1, [service, fact.slice('s', { version: 10 }), fact.endpoints({ version: 10 })]));
    clearDue();
    apply(aChange(2, [fact.slice('s', { version: 9 }), fact.endpoints({ version: 9 })]));
    expect(known()).toMatchObject({ slices: ['s 10'], endpoints: '10' });
    expect(due()).toEqual({});
    apply(aChange(3, [fact.slice('s', { version: 100 }), fact.endpoints({ version: 100 })]));
    expect(known()).toMatchObject({ slices: ['s 100'], endpoints: '100' });
  });

  test('of two objects with the same name, the newer one is kept', () => {
    apply(aSnapshot(1, [service, fact.slice('s', { version: 10 })]));
    apply(aChange(2, [fact.slice('s', { uid: 'other', version: 9 })]));
    expect(known().slices).toEqual(['s 10']);
    apply(aChange(3, [fact.slice('s', { uid: 'other', version: 11 })]));
    expect(known().slices).toEqual(['s 11']);
  });
});

describe('deletion', () => {
  beforeEach(() => apply(aSnapshot(1, [service, fact.slice('s', { version: 5 }), fact.endpoints({ version: 5 })])));

  test('a late watch event does not bring a deleted object back', () => {
    apply(aChange(2, [fact.sliceGone('s'), fact.endpointsGone()], { resourceVersions: versions() }));
    apply(aChange(3, [fact.slice('s', { version: 6 }), fact.endpoints({ version: 6 })]));
    expect(known()).toMatchObject({ slices: [], endpoints: undefined });
  });

  test('a list that is newer than the deletion brings the object back: the cluster was restored', () => {
    apply(aChange(2, [fact.sliceGone('s'), fact.endpointsGone()], { resourceVersions: versions() }));
    const facts = [service, fact.slice('s', { version: 5 }), fact.endpoints({ version: 5 })];
    apply(aSnapshot(3, facts));
    expect(known()).toMatchObject({ slices: [], endpoints: undefined });
    apply(aSnapshot(4, facts, { endpoints: '5000', endpointslices: '5000' }));
    expect(known()).toMatchObject({ slices: ['s 5'], endpoints: '5' });
    expect(state.tombstones).toEqual([]);
  });

  test('a version that is newer than the deletion brings the object back', () => {
    apply(aChange(2, [fact.sliceGone('s')], { resourceVersions: versions() }));
    apply(aChange(3, [fact.slice('s', { version: 5000 })]));
    expect(known().slices).toEqual(['s 5000']);
  });

  test('a slice that is relabelled away and back is known again', () => {
    apply(aChange(2, [fact.sliceElsewhere('s')]));
    expect(known().slices).toEqual([]);
    apply(aChange(3, [fact.slice('s', { version: 7 })]));
    expect(known().slices).toEqual(['s 7']);
  });

  test('of a later object removes an earlier object of the same name', () => {
    apply(aChange(2, [fact.sliceGone('s', 'other'), fact.endpointsGone('other')]));
    expect(known()).toMatchObject({ slices: [], endpoints: undefined });
  });

  test('of an earlier object keeps one that only an Outcome has reported', () => {
    state.setSlice('s', { slice: aSlice('s', { uid: 'ours', version: 200 }), stamp: null });
    apply(aChange(2, [fact.sliceGone('s')], { resourceVersions: versions() }));
    expect(known().slices).toEqual(['s 200']);
  });

  test('an object that only an Outcome has reported is removed once the watcher has passed its resourceVersion', () => {
    state.setSlice('t', { slice: aSlice('t', { version: 20 }), stamp: null });
    state.setEndpoints({ endpoints: someEndpoints({ uid: 'ours', version: 20 }), stamp: null });
    clearDue();
    apply(aChange(2, [], { resourceVersions: { endpoints: '19', endpointslices: '19' } }));
    expect(known()).toMatchObject({ slices: ['s 5', 't 20'], endpoints: '20' });
    expect(due()).toEqual({});
    apply(aChange(3, [], { resourceVersions: { endpoints: '20', endpointslices: '20' } }));
    expect(known()).toMatchObject({ slices: ['s 5'], endpoints: undefined });
    expect(due()).toEqual({ endpointslice: 0, endpoints: 0, endpointslicemirroring: 0 });
  });
});

describe('a snapshot', () => {
  test('is complete at its end; nothing is decided while it is open', () => {
    const part = (n: number, first: boolean, last: boolean, facts: Fact[]) =>
      apply(aChange(n, facts, { snapshot: { first, last, initial: true, resourceVersions: versions() } }));
    const ready = () => decisionOrder.filter((controller) => isDue(state, controller, now));
    part(1, true, false, [service]);
    expect(ready()).toEqual([]);
    part(2, false, false, [fact.pod('p')]);
    expect(ready()).toEqual([]);
    part(3, false, true, [fact.pod('q')]);
    expect(ready()).toEqual(decisionOrder);
    clearDue();
    part(4, true, false, [fact.pod('p', false)]);
    expect(ready()).toEqual([]);
  });

  test('removes what it does not contain', () => {
    apply(aSnapshot(1, [service, fact.pod('p'), fact.pod('q'), fact.slice('s'), fact.slice('t'), fact.endpoints()]));
    apply(aSnapshot(2, [service, fact.pod('q'), fact.slice('t')]));
    expect(known()).toMatchObject({ pods: ['q true'], slices: ['t 5'], endpoints: undefined });
    apply(aSnapshot(3, []));
    expect(known()).toEqual({ pods: [], slices: [], endpoints: undefined, service: undefined });
  });

  test('keeps unchanged objects that any of its parts contains', () => {
    apply(aSnapshot(1, [service, fact.pod('p'), fact.slice('s'), fact.endpoints()]));
    apply(
      aChange(2, [service], { snapshot: { first: true, last: false, initial: false, resourceVersions: versions() } }),
    );
    apply(aChange(3, [fact.slice('s'), fact.endpoints()]));
    apply(
      aChange(4, [fact.pod('p')], {
        snapshot: { first: false, last: true, initial: false, resourceVersions: versions() },
      }),
    );
    expect(known()).toEqual({ pods: ['p true'], slices: ['s 5'], endpoints: '5', service: 'service-uid' });
  });

  test('keeps slices and Endpoints that were written after its lists', () => {
    apply(aSnapshot(1, [service, fact.slice('s', { version: 31 }), fact.slice('t'), fact.endpoints({ version: 21 })]));
    apply(aSnapshot(2, [service], { endpoints: '20', endpointslices: '30' }));
    expect(known()).toMatchObject({ slices: ['s 31'], endpoints: '21' });
    apply(aSnapshot(3, [service], { endpoints: '21', endpointslices: '31' }));
    expect(known()).toMatchObject({ slices: [], endpoints: undefined });
  });

  test('makes every controller decide', () => {
    apply(aSnapshot(1, [service]));
    expect(due()).toEqual({ endpointslice: 0, endpoints: 0, endpointslicemirroring: 0 });
  });
});

describe('Endpoints without a Service (D3–D5)', () => {
  const orphaned = () =>
    planOf(
      decide(state, 'endpoints', now, { settings: defaultSettings, nextPlan: { epoch: 1, number: 1 } }),
    )?.groups.flatMap(({ mutations }) => mutations);

  test.each<[string, Change, object | undefined]>([
    [
      'are deleted when a watcher starts',
      aSnapshot(1, [fact.endpoints()], { initial: true }),
      [{ verb: 'delete', uid: 'endpoints-uid' }],
    ],
    ['are kept otherwise: users create them before the Service', aSnapshot(1, [fact.endpoints()]), undefined],
    [
      'are kept if leader election uses them',
      aSnapshot(1, [fact.endpoints({ annotations: { 'control-plane.alpha.kubernetes.io/leader': 'x' } })], {
        initial: true,
      }),
      undefined,
    ],
  ])('%s', (_, change, mutations) => {
    apply(change);
    if (mutations === undefined) expect(orphaned()).toBeUndefined();
    else expect(orphaned()).toMatchObject(mutations);
  });

  test.each<[string, (n: number) => Change]>([
    ['is deleted', (n) => aChange(n, [fact.noService])],
    ['is missing from a snapshot', (n) => aSnapshot(n, [fact.endpoints()])],
  ])('are deleted when the Service %s', (_, deletion) => {
    apply(aSnapshot(1, [service, fact.endpoints(), fact.pod('p')]));
    apply(deletion(2));
    expect(known()).toMatchObject({ service: undefined, pods: [] });
    expect(orphaned()).toMatchObject([{ verb: 'delete', uid: 'endpoints-uid' }]);
  });

  test('are kept if the Service is created again before a decision', () => {
    apply(aSnapshot(1, [service, fact.endpoints()]));
    apply(aChange(2, [fact.noService]));
    apply(aSnapshot(3, [{ kind: 'service', service: aService({ uid: 'second' }) }, fact.endpoints()]));
    expect(state.orphaned).toBe(false);
    expect(orphaned()).not.toMatchObject([{ verb: 'delete' }]);
  });
});

describe('which controllers decide, and when (D1–D3, E1, E2, E4–E6, H1, H3–H5)', () => {
  const batched: Settings = {
    ...defaultSettings,
    batchPeriodMs: { endpoints: 300, endpointslice: 500, endpointslicemirroring: 700 },
  };

  beforeEach(() => {
    apply(
      aSnapshot(1, [
        service,
        fact.pod('p'),
        fact.slice('s'),
        fact.slice('m', { manager: mirroring }),
        fact.endpoints(),
      ]),
    );
    clearDue();
  });

  test.each<[string, Fact, Partial<Record<Controller, number>>]>([
    ['a Service', service, { endpointslice: 0, endpointslicemirroring: 0, endpoints: 0 }],
    ['a Pod (C8)', fact.pod('p', false), { endpointslice: 500, endpoints: 300 }],
    ['zone ratios', { kind: 'topology', topology: null }, { endpointslice: 0 }],
    ['Endpoints', fact.endpoints({ version: 6 }), { endpointslicemirroring: 0, endpoints: 0 }],
    ['deleted Endpoints', fact.endpointsGone(), { endpointslicemirroring: 0, endpoints: 0 }],
    ['a slice (E4)', fact.slice('s', { version: 6 }), { endpointslice: 500 }],
    ['a deleted slice', fact.sliceGone('s'), { endpointslice: 500 }],
    ['a slice that is relabelled to another Service', fact.sliceElsewhere('s'), { endpointslice: 500 }],
    ['a mirrored slice', fact.slice('m', { version: 6, manager: mirroring }), { endpointslicemirroring: 700 }],
    [
      'a slice with a new manager',
      fact.slice('s', { version: 6, manager: mirroring }),
      { endpointslice: 500, endpointslicemirroring: 700 },
    ],
    ['an unchanged slice', fact.slice('s'), {}],
    ['a deleted unknown slice', fact.sliceGone('x'), {}],
  ])('%s', (_, given, expected) => {
    apply(aChange(2, [given]), now, batched);
    expect(due()).toEqual(expected);
  });

  test('the first of several Pods sets the time, and causes are collected (B2, B7)', () => {
    apply(aChange(2, [fact.pod('p', false)]), now, batched);
    apply(aChange(3, [fact.pod('q')]), now + 200, batched);
    expect(due()).toEqual({ endpointslice: 500, endpoints: 300 });
    expect(state.controller('endpointslice').causes.first.map(({ description }) => description)).toEqual([
      'change 2',
      'change 3',
    ]);
  });

  test('a change of the Service does not wait for an open batch (B2)', () => {
    apply(aChange(2, [fact.pod('p', false)]), now, batched);
    apply(aChange(3, [service]), now, batched);
    expect(due()).toMatchObject({ endpointslice: 0, endpoints: 0 });
  });

  test('disabled controllers never decide', () => {
    apply(aChange(2, [service]), now, { ...defaultSettings, controllers: new Set(['endpoints']) });
    expect(due()).toEqual({ endpoints: 0 });
  });

  test('any change activates a parked key', () => {
    state.setController('endpointslice', {
      ...state.controller('endpointslice'),
      retries: { ...state.controller('endpointslice').retries, parked: 'forbidden' },
      timers: { ...state.controller('endpointslice').timers, dueAt: now + 60_000 },
    });
    apply(aChange(2, [fact.pod('p', false)]));
    expect(state.controller('endpointslice')).toMatchObject({ retries: { parked: null }, timers: { dueAt: now } });
  });
});

describe('repairs', () => {
  const edit = (n: number, at: number) => apply(aChange(n, [fact.slice('s', { version: n + 10 })]), at);
  const decided = () =>
    state.setController('endpointslice', aController({ timers: { dueAt: null } }, state.controller('endpointslice')));

  beforeEach(() => {
    apply(aSnapshot(1, [service, fact.slice('s')]));
    clearDue();
  });

  test('are made at once, but at most once per second, regardless of the number of foreign writes', () => {
    const times: number[] = [];
    for (let n = 2; n < 300; n++) {
      const at = now + n * 10;
      const {
        timers: { dueAt },
      } = state.controller('endpointslice');
      if (dueAt !== null && dueAt <= at) {
        times.push(dueAt - now);
        decided();
      }
      edit(n, at);
    }
    expect(times).toEqual([20, 1020, 2020]);
  });

  test('that are far apart are made at once', () => {
    edit(2, now);
    decided();
    edit(3, now + 1_500);
    expect(due()).toEqual({ endpointslice: 1_500 });
  });

  test('do not delay a change of the Service or its Pods', () => {
    edit(2, now);
    decided();
    edit(3, now + 1);
    apply(aChange(4, [fact.pod('p')]), now + 2);
    expect(due()).toMatchObject({ endpointslice: 2 });
  });
});

function versions() {
  return { endpoints: '100', endpointslices: '100' };
}

test('a Pod and its Node placement are kept as published', () => {
  apply(aSnapshot(1, [service, fact.pod('p', true, 'b')]));
  expect(state.pods.get('p')).toEqual({ pod: aPod('p'), node: { zone: 'b' }, stamp: { epoch: 1, sequence: 1 } });
});
