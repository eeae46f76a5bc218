import { decisionOrder } from '@sluice/controllers';
import type { Fact } from '@sluice/messages';
import type { EndpointSlice, MutationGroup } from '@sluice/model';
import { describe, expect, test } from 'vitest';
import { withDerivedNames } from './decide.ts';
import { isDue } from './due.ts';
import type { ServiceState } from './service-state.ts';
import { defaultSettings } from './settings.ts';
import { given, startTime } from './testing/given.ts';
import { aChange, anOutcome, aSnapshot, fact, key, whatHappened } from './testing/messages.ts';
import { aController, aPod, aService, mirroring, someEndpoints } from './testing/objects.ts';

const service: Fact = { kind: 'service', service: aService() };
const custom: Fact = { kind: 'service', service: aService({ selector: null }) };
const behind = { endpoints: '9', endpointslices: '9' };
const slicesOnly = { settings: { ...defaultSettings, controllers: new Set(['endpointslice'] as const) } };

const due = (state: ServiceState, at = startTime) => decisionOrder.filter((controller) => isDue(state, controller, at));

describe('a decision is due', () => {
  test('only after a complete snapshot (A9)', () => {
    const history = given(aChange(1, [service])).thenDueAt(null);
    expect(due(history.state)).toEqual([]);
    expect(due(history.and(aSnapshot(2, [service])).state)).toEqual(decisionOrder);
  });

  test.each([
    [['pods'], { endpointslicemirroring: [] }],
    [['endpoints'], { endpointslice: ['create'] }],
  ])('not for a controller whose watcher does not watch %j: its key is parked', (unwatched, expected) => {
    const snapshot = aSnapshot(1, [service, fact.pod('p')], behind);
    const part = snapshot.snapshot && { ...snapshot.snapshot, unwatched };
    const history = given({ ...snapshot, ...(part && { snapshot: part }) }).when();
    history.thenPlans(Object.fromEntries(Object.entries(expected).filter(([, verbs]) => verbs.length > 0)));
    const parked = decisionOrder.filter((controller) => history.state.controller(controller).retries.parked !== null);
    expect(parked).toEqual(decisionOrder.filter((controller) => !(controller in expected)));
    expect(history.state.controller('endpoints').retries.parked).toContain(`the watcher does not watch ${unwatched}`);
    history
      .and(aChange(2, [fact.pod('q')]))
      .when(startTime + 1)
      .thenPlans({});
    const complete = history.and(aSnapshot(3, [service, fact.pod('p')], behind));
    expect(complete.state.controller('endpoints').retries.parked).toBe(null);
    expect(complete.when().plan('endpoints').groups).toHaveLength(1);
  });

  test('not before its time', () => {
    const { state } = given(aSnapshot(1, [service])).thenDueAt(startTime);
    expect(due(state, startTime - 1)).toEqual([]);
  });

  test('not while a plan of the controller is in flight; the others continue (B2)', () => {
    const history = given(aSnapshot(1, [service, fact.pod('p')], behind), slicesOnly).when();
    history.thenPlans({ endpointslice: ['create'] });
    history
      .and(aChange(2, [fact.pod('q')]))
      .when()
      .thenNothing();
  });

  test('not twice for the same change', () => {
    given(aSnapshot(1, [service], behind))
      .when()
      .applied()
      .thenDueAt(null)
      .when(startTime + 1e9)
      .thenNothing();
  });

  test('again if the Outcome is overdue: the plan is redelivered unchanged, ever later', () => {
    const first = given(aSnapshot(1, [service, fact.pod('p')], behind), slicesOnly).when();
    const second = first.thenDueAt(startTime + 5_000).when(startTime + 5_000);
    expect(second.decisions).toEqual([{ kind: 'redelivered', controller: 'endpointslice' }]);
    expect(second.plan('endpointslice')).toBe(first.plan('endpointslice'));
    second.thenDueAt(startTime + 15_000);
  });

  test('later if it fails: its key is parked', () => {
    const failing = { ...defaultSettings.policy, isStale: () => expect.unreachable('broken') };
    const history = given(aSnapshot(1, [service]), { settings: { ...slicesOnly.settings, policy: failing } }).when();
    expect(history.decisions).toMatchObject([{ kind: 'parked', reason: expect.stringContaining('broken') }]);
    expect(history.state.controller('endpointslice').retries.parked).toContain('broken');
    history.thenDueAt(startTime + 60_000);
  });
});

describe('a plan', () => {
  test('names its id, causes and Service', () => {
    const history = given(aSnapshot(1, [service, fact.pod('p')])).when();
    expect(history.plan('endpointslice')).toMatchObject({
      kind: 'mutations',
      key,
      controller: 'endpointslice',
      plan: { epoch: 1, number: 1 },
      serviceUid: 'service-uid',
      causes: whatHappened('change 1'),
      decidedAt: startTime,
    });
    expect(history.state.controller('endpointslice').causes).toEqual({ first: [], more: 0 });
  });

  test('has the next number; a decision without plan uses none', () => {
    const history = given(aSnapshot(1, [service, fact.pod('p')], behind)).when();
    history.thenPlans({ endpointslice: ['create'], endpoints: ['create'] });
    expect(history.plan('endpoints').plan.number).toBe(2);
    const next = history
      .applied()
      .and(aChange(2, [fact.pod('q')]))
      .when();
    expect(next.plan('endpointslice').plan.number).toBe(3);
  });

  test('is not made if the cluster is as it should be; trackers then advance at once', () => {
    const history = given(aSnapshot(1, [custom]));
    const { state } = history;
    state.setController('endpointslice', aController({ retries: { failures: 3 } }, state.controller('endpointslice')));
    history.when().thenNothing();
    expect(state.controller('endpointslice')).toMatchObject({
      retries: { failures: 0 },
      timers: { dueAt: null },
      inFlight: null,
    });
  });

  test('is not needed for the trigger times to advance (C17)', () => {
    const later = aPod('p', { readyTransitionTime: '2026-01-01T00:09:00Z' });
    const history = given(aSnapshot(1, [service, fact.pod('p')], behind), slicesOnly)
      .when()
      .applied()
      .and(aChange(2, [{ kind: 'pod', name: 'p', pod: later, node: { zone: 'a' } }]))
      .when()
      .thenNothing();
    expect(history.state.controller('endpointslice').trackers.triggers?.pods.p).toBe('2026-01-01T00:09:00Z');
  });

  test('replaces a slice that was relabelled at once: nothing waits for a stale cache (C21, C22)', () => {
    const written = given(aSnapshot(1, [service, fact.pod('p')], behind), slicesOnly)
      .when()
      .applied();
    expect(Object.keys(written.state.controller('endpointslice').trackers.tracked)).toHaveLength(1);
    const [[name, { slice }] = expect.unreachable('no slice')] = written.state.slices;
    const uid = slice.metadata.uid ?? '';
    const elsewhere = aChange(2, [{ kind: 'slice', name, slice: null, uid, relabelled: true }]);
    written
      .and(elsewhere)
      .when()
      .thenPlans({ endpointslice: ['create'] });
  });

  test('of slices has the Pods, the Nodes and the limit that the controller reads (A4)', () => {
    const settings = { ...slicesOnly.settings, maxEndpointsPerSlice: 1 };
    const history = given(aSnapshot(1, [service, fact.pod('p'), fact.pod('q')], behind), { settings }).when();
    const [group] = history.plan('endpointslice').groups;
    const objects = group?.mutations.map((one) => (one.verb === 'create' ? one.object : undefined));
    expect(objects).toMatchObject([{ endpoints: [{ zone: 'a' }] }, { endpoints: [{ zone: 'a' }] }]);
  });

  test('that is incomplete is published although it writes nothing, so that its failure is reported (E15)', () => {
    const pod: Fact = { kind: 'pod', name: 'p', pod: aPod('p'), node: null };
    const placeholder = given(aSnapshot(1, [service, pod], behind), slicesOnly)
      .when()
      .applied();
    const again = placeholder
      .and(aChange(2, [pod]))
      .when()
      .thenPlans({ endpointslice: [] });
    expect(again.plan('endpointslice').incomplete).toEqual([expect.stringContaining('Node node-a')]);
  });
});

describe('controllers see only their own objects', () => {
  test('a Service without selector keeps its slices; the mirrored ones follow its Endpoints', () => {
    given(aSnapshot(1, [custom, fact.slice('s'), fact.slice('m', { manager: mirroring }), fact.endpoints()]))
      .when()
      .thenPlans({ endpointslicemirroring: ['delete'] });
  });

  test('deleting mirrored slices clears the tracker (H6)', () => {
    const history = given(aSnapshot(1, [custom, fact.slice('m', { manager: mirroring }), fact.endpoints()]));
    const { state } = history;
    const tracked = { 'uid-m': 1 };
    state.setController(
      'endpointslicemirroring',
      aController({ trackers: { tracked } }, state.controller('endpointslicemirroring')),
    );
    history
      .and(aChange(2, [fact.endpointsGone()]))
      .when()
      .thenPlans({ endpointslicemirroring: ['delete'] });
    expect(state.controller('endpointslicemirroring').trackers.tracked).toEqual({});
  });

  test('a mirrored slice that needs no write is tracked from now on (H15)', () => {
    const subsets = [{ addresses: [{ ip: '10.0.0.1' }] }];
    const endpoints: Fact = { kind: 'endpoints', endpoints: { ...someEndpoints(), subsets }, uid: 'endpoints-uid' };
    const settings = { ...defaultSettings, controllers: new Set(['endpointslicemirroring'] as const) };
    const written = given(aSnapshot(1, [custom, endpoints], behind), { settings })
      .when()
      .applied();
    const before = written.state.controller('endpointslicemirroring');
    expect(Object.keys(before.trackers.tracked)).toHaveLength(1);
    written.state.setController('endpointslicemirroring', { ...before, trackers: { ...before.trackers, tracked: {} } });
    written
      .and(aChange(2, [custom]))
      .when()
      .thenNothing();
    expect(written.state.controller('endpointslicemirroring').trackers.tracked).toEqual(before.trackers.tracked);
  });

  test('a controller does not write slices of another one (H8)', () => {
    given(aSnapshot(1, [service, fact.pod('p'), fact.slice('m', { manager: mirroring })]), slicesOnly)
      .when()
      .thenPlans({ endpointslice: ['create'] });
  });

  test('a deleted Service leaves its slices to the garbage collector (E8), and its Endpoints are deleted (D5)', () => {
    given([aSnapshot(1, [service, fact.slice('s'), fact.endpoints()]), aChange(2, [fact.noService])])
      .when()
      .thenPlans({ endpoints: ['delete'] });
  });

  test('every update and delete carries the resourceVersion it was decided on (D23, E31, K2)', () => {
    const history = given(
      aSnapshot(1, [service, fact.pod('p'), fact.slice('s'), fact.slice('t'), fact.endpoints()]),
    ).when();
    const mutations = (['endpointslice', 'endpoints'] as const).flatMap((controller) =>
      history.plan(controller).groups.flatMap((group) => group.mutations),
    );
    expect(mutations.map(({ verb }) => verb).sort()).toEqual(['delete', 'update', 'update']);
    for (const mutation of mutations) {
      const version = mutation.verb === 'delete' ? mutation.resourceVersion : mutation.object.metadata.resourceVersion;
      expect(version, JSON.stringify(mutation)).toBe('5');
    }
  });
});

test('an Outcome may arrive late; changes that arrived before it lead to one plan', () => {
  const first = given(aSnapshot(1, [service, fact.pod('p')], behind), slicesOnly).when();
  first
    .and([aChange(2, [fact.pod('q')]), aChange(3, [fact.pod('r')])], startTime + 10)
    .when()
    .thenNothing()
    .and(anOutcome(first.plan('endpointslice')), startTime + 12)
    .when()
    .thenPlans({ endpointslice: ['update'] });
});

const slice = (generateName: string, name = ''): EndpointSlice => ({
  metadata: { name, namespace: 'shop', generateName },
  addressType: 'IPv4',
});

const group = (...bases: string[]): MutationGroup => ({
  mutations: bases.map((base) => ({ verb: 'create', resource: 'endpointslices', object: slice(base) })),
});

function names(groups: readonly MutationGroup[], owner = 'uid', epoch = 1, number = 1): string[] {
  return namesOf(withDerivedNames(groups, { ...options, ownerUid: owner, plan: { epoch, number } }));
}

const namesOf = (groups: readonly MutationGroup[]): string[] =>
  groups.flatMap(({ mutations }) =>
    mutations.map((mutation) => (mutation.verb === 'delete' ? mutation.name : mutation.object.metadata.name)),
  );

const options = {
  ...{ ownerUid: 'uid', controller: 'endpointslice' as const, plan: { epoch: 1, number: 1 } },
  isTaken: () => false,
};

describe('a derived name', () => {
  test.each(['web-', `${'x'.repeat(57)}-`, `${'x'.repeat(62)}-`, `${'x'.repeat(250)}-`])(
    'has the form of a generated one (K1) on %s',
    (base) => {
      const [name = ''] = names([group(base)]);
      expect(name.length).toBeLessThanOrEqual(63);
      expect(name.startsWith(base.slice(0, 58))).toBe(true);
      expect(name.slice(Math.min(base.length, 58))).toMatch(/^[bcdfghjklmnpqrstvwxz2456789]{5}$/);
    },
  );

  test('is the same for the same plan', () => {
    const groups = [group('web-', 'web-'), group('web-')];
    expect(names(groups)).toEqual(names(groups));
  });

  test('differs by owner, epoch, number and place', () => {
    const all = new Set<string>();
    for (const owner of ['u1', 'u2']) {
      for (const epoch of [1, 2, 11]) {
        for (let number = 1; number <= 40; number++) {
          for (const name of names([group('web-', 'web-'), group('web-', 'web-')], owner, epoch, number)) all.add(name);
        }
      }
    }
    expect(all.size).toBe(2 * 3 * 40 * 4);
  });

  test('differs by controller', () => {
    const [slices, mirrored] = (['endpointslice', 'endpointslicemirroring'] as const).map((controller) =>
      JSON.stringify(withDerivedNames([group('web-')], { ...options, controller })),
    );
    expect(slices).not.toBe(mirrored);
  });

  const replacing = { ...options, plan: { epoch: 2, number: 7 }, unconfirmed: { epoch: 1, number: 1 } };

  test('is the next one of an unconfirmed plan that no known slice has', () => {
    const [first = '', second = '', third = ''] = names([group('web-', 'web-', 'web-')], 'uid', 1, 1);
    expect(namesOf(withDerivedNames([group('web-', 'web-')], replacing))).toEqual([first, second]);
    const isTaken = (name: string) => name === second;
    expect(namesOf(withDerivedNames([group('web-', 'web-')], { ...replacing, isTaken }))).toEqual([first, third]);
  });

  test('is the same for every plan that replaces an unconfirmed one, also in place of a taken name', () => {
    const groups = [group('web-', 'web-')];
    const [first] = names(groups, 'uid', 1, 1);
    const isTaken = (name: string) => name === first;
    const named = [7, 8].map((number) =>
      namesOf(withDerivedNames(groups, { ...replacing, plan: { epoch: 2, number }, isTaken })),
    );
    expect(named[0]).toEqual(named[1]);
    expect(named[0]).not.toContain(first);
  });

  test('is the one of an unconfirmed plan that created less or more before it', () => {
    const update: MutationGroup = {
      mutations: [{ verb: 'update', resource: 'endpointslices', object: slice('web-', 'web-1') }],
    };
    const [first = ''] = names([group('web-')], 'uid', 1, 1);
    expect(namesOf(withDerivedNames([update, group('web-')], replacing))).toEqual(['web-1', first]);
  });

  test('uses the whole alphabet of the API server at every position (K1)', () => {
    const seen = Array.from({ length: 5 }, () => new Set<string>());
    for (let number = 1; number <= 2_000; number++) {
      const suffix = names([group('web-')], 'uid', 1, number)[0]?.slice(-5) ?? '';
      for (const [i, place] of seen.entries()) place.add(suffix[i] ?? '');
    }
    for (const letters of seen) expect([...letters].sort().join('')).toBe('2456789bcdfghjklmnpqrstvwxz');
  });

  test('is given only to slices with generateName', () => {
    const recycled: MutationGroup = {
      mutations: [
        { verb: 'update', resource: 'endpointslices', object: slice('web-', 'web-old') },
        { verb: 'create', resource: 'endpoints', object: { metadata: { name: 'web', namespace: 'shop' } } },
        { verb: 'create', resource: 'endpointslices', object: slice('web-', 'web-given') },
        { verb: 'delete', resource: 'endpointslices', name: 'web-x' },
      ],
    };
    expect(names([recycled])).toEqual(['web-old', 'web', 'web-given', 'web-x']);
  });

  test('keeps generateName, as an API server does', () => {
    const [named] = withDerivedNames([group('web-')], options);
    expect(named?.mutations[0]).toMatchObject({ object: { metadata: { generateName: 'web-' } } });
  });
});
