import type { Controller } from '@sluice/controllers';
import { type Change, type Fact, noCauses } from '@sluice/messages';
import { beforeEach, describe, expect, test } from 'vitest';
import { applyChange } from './apply-change.ts';
import { decide, decisionOrder, isDue } from './decide.ts';
import { ServiceState } from './service-state.ts';
import { defaultSettings, type Settings } from './settings.ts';
import { aChange, aSnapshot, fact, key } from './testing/messages.ts';
import { aPod, aService, aSlice, mirroring, someEndpoints } from './testing/objects.ts';

const now = 1_000_000;
const service: Fact = { kind: 'service', service: aService() };
let view: ServiceState;

beforeEach(() => {
  view = new ServiceState(key);
});

function fold(change: Change, at = now, settings: Settings = defaultSettings): void {
  applyChange(view, change, at, settings);
}

/** Everything decided, so that what is due afterwards comes from what is folded then. */
function rest(): void {
  for (const controller of decisionOrder) {
    view.setController(controller, { ...view.controller(controller), dueAt: null, repairAt: null, causes: noCauses });
  }
}

const known = () => ({
  pods: [...view.pods].map(([name, { pod }]) => `${name} ${pod.ready}`).sort(),
  slices: [...view.slices].map(([name, { slice }]) => `${name} ${slice.metadata.resourceVersion}`).sort(),
  endpoints: view.endpoints?.endpoints.metadata.resourceVersion,
  service: view.service?.service?.uid,
});

/** By controller, in how many milliseconds it is due. */
const due = () =>
  Object.fromEntries(
    decisionOrder.flatMap((controller) => {
      const { dueAt } = view.controller(controller);
      return dueAt === null ? [] : [[controller, dueAt - now]];
    }),
  );

describe('order', () => {
  test('an older Change that comes after a newer one changes nothing', () => {
    fold(aSnapshot(1, [service, fact.pod('p', false), fact.pod('q')]));
    fold(aChange(5, [fact.pod('p', true), fact.podGone('q')]));
    rest();
    fold(aChange(4, [fact.pod('p', false), fact.pod('q'), fact.noService]));
    expect(known()).toMatchObject({ pods: ['p true'], service: 'service-uid' });
    expect(due()).toEqual({});
  });

  test('the same Change twice counts once', () => {
    fold(aSnapshot(1, [service, fact.pod('p')]));
    rest();
    fold(aSnapshot(1, [service, fact.pod('p')]));
    expect(due()).toEqual({});
  });

  test('a former watcher is not listened to, a new one is, whatever its numbers', () => {
    fold(aSnapshot([2, 7], [service, fact.pod('p')]));
    fold(aChange([1, 900], [fact.podGone('p')]));
    expect(known().pods).toEqual(['p true']);
    fold(aChange([3, 1], [fact.podGone('p')]));
    expect(known().pods).toEqual([]);
  });

  test.each<[string, Partial<Change>]>([
    [
      'the beginning of a snapshot',
      { snapshot: { first: true, last: false, initial: true, resourceVersions: versions() } },
    ],
    ['the end of a snapshot', { snapshot: { first: false, last: true, initial: true, resourceVersions: versions() } }],
  ])('%s that comes again later opens and closes nothing', (_, part) => {
    fold(aSnapshot(3, [service, fact.pod('p')]));
    fold(aChange(4, [], { snapshot: { first: true, last: false, initial: false, resourceVersions: versions() } }));
    fold(aChange(5, [service, fact.pod('p')]));
    fold(aChange(2, [], part));
    expect(view.snapshot.open?.since).toEqual({ epoch: 1, sequence: 4 });
    expect(known().pods).toEqual(['p true']);
    fold(aChange(6, [], { snapshot: { first: false, last: true, initial: false, resourceVersions: versions() } }));
    fold(aChange(2, [], part));
    expect(view.snapshot.open).toBeNull();
    expect(known().pods).toEqual(['p true']);
  });

  test('slices and Endpoints go by their resourceVersion, compared as numbers', () => {
    fold(aSnapshot(1, [service, fact.slice('s', { version: 10 }), fact.endpoints({ version: 10 })]));
    rest();
    fold(aChange(2, [fact.slice('s', { version: 9 }), fact.endpoints({ version: 9 })]));
    expect(known()).toMatchObject({ slices: ['s 10'], endpoints: '10' });
    expect(due()).toEqual({});
    fold(aChange(3, [fact.slice('s', { version: 100 }), fact.endpoints({ version: 100 })]));
    expect(known()).toMatchObject({ slices: ['s 100'], endpoints: '100' });
  });

  test('of another object of the same name the newer one counts', () => {
    fold(aSnapshot(1, [service, fact.slice('s', { version: 10 })]));
    fold(aChange(2, [fact.slice('s', { uid: 'other', version: 9 })]));
    expect(known().slices).toEqual(['s 10']);
    fold(aChange(3, [fact.slice('s', { uid: 'other', version: 11 })]));
    expect(known().slices).toEqual(['s 11']);
  });
});

describe('absence', () => {
  beforeEach(() => fold(aSnapshot(1, [service, fact.slice('s', { version: 5 }), fact.endpoints({ version: 5 })])));

  test('a late echo does not bring back what was deleted', () => {
    fold(aChange(2, [fact.sliceGone('s'), fact.endpointsGone()]));
    fold(aChange(3, [fact.slice('s', { version: 6 }), fact.endpoints({ version: 6 })]));
    expect(known()).toMatchObject({ slices: [], endpoints: undefined });
  });

  test('a slice relabelled away and back is known again', () => {
    fold(aChange(2, [fact.sliceElsewhere('s')]));
    expect(known().slices).toEqual([]);
    fold(aChange(3, [fact.slice('s', { version: 7 })]));
    expect(known().slices).toEqual(['s 7']);
  });

  test('of a later object of the same name means the earlier ones too', () => {
    fold(aChange(2, [fact.sliceGone('s', 'other'), fact.endpointsGone('other')]));
    expect(known()).toMatchObject({ slices: [], endpoints: undefined });
  });

  test('of an earlier object does not touch one that only an Outcome told of', () => {
    view.setSlice('s', { slice: aSlice('s', { uid: 'ours', version: 200 }), stamp: null });
    fold(aChange(2, [fact.sliceGone('s')], { resourceVersions: versions() }));
    expect(known().slices).toEqual(['s 200']);
  });

  test('what only an Outcome told of is gone once the watcher has come further without seeing it', () => {
    view.setSlice('t', { slice: aSlice('t', { version: 20 }), stamp: null });
    view.set('endpoints', { endpoints: someEndpoints({ uid: 'ours', version: 20 }), stamp: null });
    rest();
    fold(aChange(2, [], { resourceVersions: { endpoints: '19', endpointslices: '19' } }));
    expect(known()).toMatchObject({ slices: ['s 5', 't 20'], endpoints: '20' });
    expect(due()).toEqual({});
    fold(aChange(3, [], { resourceVersions: { endpoints: '20', endpointslices: '20' } }));
    expect(known()).toMatchObject({ slices: ['s 5'], endpoints: undefined });
    expect(due()).toEqual({ endpointslice: 0, endpoints: 0, endpointslicemirroring: 0 });
  });
});

describe('a snapshot', () => {
  test('is complete with its end; between, nothing is decided', () => {
    const part = (n: number, first: boolean, last: boolean, facts: Fact[]) =>
      fold(aChange(n, facts, { snapshot: { first, last, initial: true, resourceVersions: versions() } }));
    const ready = () => decisionOrder.filter((controller) => isDue(view, controller, now));
    part(1, true, false, [service]);
    expect(ready()).toEqual([]);
    part(2, false, false, [fact.pod('p')]);
    expect(ready()).toEqual([]);
    part(3, false, true, [fact.pod('q')]);
    expect(ready()).toEqual(decisionOrder);
    rest();
    part(4, true, false, [fact.pod('p', false)]);
    expect(ready()).toEqual([]);
  });

  test('removes what it does not assert', () => {
    fold(aSnapshot(1, [service, fact.pod('p'), fact.pod('q'), fact.slice('s'), fact.slice('t'), fact.endpoints()]));
    fold(aSnapshot(2, [service, fact.pod('q'), fact.slice('t')]));
    expect(known()).toMatchObject({ pods: ['q true'], slices: ['t 5'], endpoints: undefined });
    fold(aSnapshot(3, []));
    expect(known()).toEqual({ pods: [], slices: [], endpoints: undefined, service: undefined });
  });

  test('keeps what was asserted in any of its parts, though it did not change', () => {
    fold(aSnapshot(1, [service, fact.pod('p'), fact.slice('s'), fact.endpoints()]));
    fold(
      aChange(2, [service], { snapshot: { first: true, last: false, initial: false, resourceVersions: versions() } }),
    );
    fold(aChange(3, [fact.slice('s'), fact.endpoints()]));
    fold(
      aChange(4, [fact.pod('p')], {
        snapshot: { first: false, last: true, initial: false, resourceVersions: versions() },
      }),
    );
    expect(known()).toEqual({ pods: ['p true'], slices: ['s 5'], endpoints: '5', service: 'service-uid' });
  });

  test('does not remove slices and Endpoints that were written after its lists', () => {
    fold(aSnapshot(1, [service, fact.slice('s', { version: 31 }), fact.slice('t'), fact.endpoints({ version: 21 })]));
    fold(aSnapshot(2, [service], { endpoints: '20', endpointslices: '30' }));
    expect(known()).toMatchObject({ slices: ['s 31'], endpoints: '21' });
    fold(aSnapshot(3, [service], { endpoints: '21', endpointslices: '31' }));
    expect(known()).toMatchObject({ slices: [], endpoints: undefined });
  });

  test('makes every controller look again', () => {
    fold(aSnapshot(1, [service]));
    expect(due()).toEqual({ endpointslice: 0, endpoints: 0, endpointslicemirroring: 0 });
  });
});

describe('Endpoints without a Service (D3–D5)', () => {
  const orphaned = () =>
    decide(view, 'endpoints', () => ({ epoch: 1, number: 1 }), now, defaultSettings).plan?.groups.flatMap(
      ({ mutations }) => mutations,
    );

  test.each<[string, Change, object | undefined]>([
    [
      'are swept at a start',
      aSnapshot(1, [fact.endpoints()], { initial: true }),
      [{ verb: 'delete', uid: 'endpoints-uid' }],
    ],
    ['are left alone otherwise: people make theirs first', aSnapshot(1, [fact.endpoints()]), undefined],
    [
      'are left alone if leader election used them',
      aSnapshot(1, [fact.endpoints({ annotations: { 'control-plane.alpha.kubernetes.io/leader': 'x' } })], {
        initial: true,
      }),
      undefined,
    ],
  ])('%s', (_, change, mutations) => {
    fold(change);
    if (mutations === undefined) expect(orphaned()).toBeUndefined();
    else expect(orphaned()).toMatchObject(mutations);
  });

  test.each<[string, (n: number) => Change]>([
    ['goes', (n) => aChange(n, [fact.noService])],
    ['is not in a snapshot any more', (n) => aSnapshot(n, [fact.endpoints()])],
  ])('are deleted when the Service %s', (_, gone) => {
    fold(aSnapshot(1, [service, fact.endpoints(), fact.pod('p')]));
    fold(gone(2));
    expect(known()).toMatchObject({ service: undefined, pods: [] });
    expect(orphaned()).toMatchObject([{ verb: 'delete', uid: 'endpoints-uid' }]);
  });

  test('are kept if the Service is back before anything was decided', () => {
    fold(aSnapshot(1, [service, fact.endpoints()]));
    fold(aChange(2, [fact.noService]));
    fold(aSnapshot(3, [{ kind: 'service', service: aService({ uid: 'second' }) }, fact.endpoints()]));
    expect(view.orphaned).toBe(false);
    expect(orphaned()).not.toMatchObject([{ verb: 'delete' }]);
  });
});

describe('who has to look again, and when (D1–D3, E1, E2, E4–E6, H1, H3–H5)', () => {
  const batched: Settings = {
    ...defaultSettings,
    batchPeriodMs: { endpoints: 300, endpointslice: 500, endpointslicemirroring: 700 },
  };

  beforeEach(() => {
    fold(
      aSnapshot(1, [
        service,
        fact.pod('p'),
        fact.slice('s'),
        fact.slice('m', { manager: mirroring }),
        fact.endpoints(),
      ]),
    );
    rest();
  });

  test.each<[string, Fact, Partial<Record<Controller, number>>]>([
    ['a Service', service, { endpointslice: 0, endpointslicemirroring: 0, endpoints: 0 }],
    ['a Pod (C8)', fact.pod('p', false), { endpointslice: 500, endpoints: 300 }],
    ['zone ratios', { kind: 'topology', topology: null }, { endpointslice: 0 }],
    ['Endpoints', fact.endpoints({ version: 6 }), { endpointslicemirroring: 0, endpoints: 0 }],
    ['Endpoints that are gone', fact.endpointsGone(), { endpointslicemirroring: 0, endpoints: 0 }],
    ['a slice (E4)', fact.slice('s', { version: 6 }), { endpointslice: 500 }],
    ['a slice that is gone', fact.sliceGone('s'), { endpointslice: 500 }],
    ['a slice that is elsewhere now', fact.sliceElsewhere('s'), { endpointslice: 500 }],
    ['a mirrored slice', fact.slice('m', { version: 6, manager: mirroring }), { endpointslicemirroring: 700 }],
    [
      'a slice of another manager now',
      fact.slice('s', { version: 6, manager: mirroring }),
      { endpointslice: 500, endpointslicemirroring: 700 },
    ],
    ['a slice that did not change', fact.slice('s'), {}],
    ['an unknown slice that is gone', fact.sliceGone('x'), {}],
  ])('%s', (_, given, expected) => {
    fold(aChange(2, [given]), now, batched);
    expect(due()).toEqual(expected);
  });

  test('the first of several Pods sets the time, and the causes gather (B2, B7)', () => {
    fold(aChange(2, [fact.pod('p', false)]), now, batched);
    fold(aChange(3, [fact.pod('q')]), now + 200, batched);
    expect(due()).toEqual({ endpointslice: 500, endpoints: 300 });
    expect(view.controller('endpointslice').causes.first.map(({ description }) => description)).toEqual([
      'change 2',
      'change 3',
    ]);
  });

  test('a change of the Service does not wait for a batch that has begun (B2)', () => {
    fold(aChange(2, [fact.pod('p', false)]), now, batched);
    fold(aChange(3, [service]), now, batched);
    expect(due()).toMatchObject({ endpointslice: 0, endpoints: 0 });
  });

  test('controllers that are switched off never do', () => {
    fold(aChange(2, [service]), now, { ...defaultSettings, controllers: new Set(['endpoints']) });
    expect(due()).toEqual({ endpoints: 0 });
  });

  test('what is parked gets another chance with any change', () => {
    const state = view.controller('endpointslice');
    view.setController('endpointslice', { ...state, parked: 'forbidden', dueAt: now + 60_000 });
    fold(aChange(2, [fact.pod('p', false)]));
    expect(view.controller('endpointslice')).toMatchObject({ parked: null, dueAt: now });
  });
});

describe('repairs', () => {
  const edit = (n: number, at: number) => fold(aChange(n, [fact.slice('s', { version: n + 10 })]), at);
  const decided = () => view.setController('endpointslice', { ...view.controller('endpointslice'), dueAt: null });

  beforeEach(() => {
    fold(aSnapshot(1, [service, fact.slice('s')]));
    rest();
  });

  test('are made at once, but not more than once a second, however often somebody writes', () => {
    const times: number[] = [];
    for (let n = 2; n < 300; n++) {
      const at = now + n * 10;
      const { dueAt } = view.controller('endpointslice');
      if (dueAt !== null && dueAt <= at) {
        times.push(dueAt - now);
        decided();
      }
      edit(n, at);
    }
    expect(times).toEqual([20, 1020, 2020]);
  });

  test('that are far apart wait for nothing', () => {
    edit(2, now);
    decided();
    edit(3, now + 1_500);
    expect(due()).toEqual({ endpointslice: 1_500 });
  });

  test('do not hold up a change of the Service or its Pods', () => {
    edit(2, now);
    decided();
    edit(3, now + 1);
    fold(aChange(4, [fact.pod('p')]), now + 2);
    expect(due()).toMatchObject({ endpointslice: 2 });
  });
});

function versions() {
  return { endpoints: '100', endpointslices: '100' };
}

test('a Pod and its place are taken as they are told', () => {
  fold(aSnapshot(1, [service, fact.pod('p', true, 'b')]));
  expect(view.pods.get('p')).toEqual({ pod: aPod('p'), node: { zone: 'b' }, stamp: { epoch: 1, sequence: 1 } });
});
