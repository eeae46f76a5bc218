import { type Change, digestFacts, type Fact, type PlannedMutations } from '@sluice/messages';
import type { EndpointSlice, Mutation } from '@sluice/model';
import { beforeEach, describe, expect, test } from 'vitest';
import { awaitsSnapshot, differences, proofOfRestore, proofOfRestoreByOutcome } from './divergence.ts';
import { evolve } from './evolve.ts';
import { ServiceState } from './service-state.ts';
import { defaultSettings, defaultSettings as settings } from './settings.ts';
import { aChange, anOutcome, aSnapshot, fact, key } from './testing/messages.ts';
import { aService, aSlice, someEndpoints } from './testing/objects.ts';

describe('compare digest', () => {
  const topology: Fact = { kind: 'topology', topology: { zoneRatios: { a: 1 }, nodesByZone: { a: 2 } } };
  const known: readonly Fact[] = [
    { kind: 'service', service: aService() },
    topology,
    fact.pod('p'),
    fact.pod('q', false),
    fact.endpoints(),
    fact.slice('s', { version: 7 }),
  ];
  const resourceVersions = { endpoints: '10', endpointslices: '10' };
  let state: ServiceState;
  const now = 1_000_000;
  let n: number;

  beforeEach(() => {
    state = new ServiceState(key);
    n = 1;
    apply(aSnapshot(n, known));
  });

  function apply(change: Change): Change {
    evolve(state, change, 0, defaultSettings);
    return change;
  }

  /** What differs from the digest of a watcher that knows these facts. */
  const compared = (facts: readonly Fact[], given: Partial<Change> = {}) =>
    differences(state, apply(aChange(++n, [], { resourceVersions, digest: digestFacts(facts), ...given })), now);

  test('nothing differs from what was published', () => {
    expect(compared(known)).toEqual([]);
    expect(compared([...known].reverse())).toEqual([]);
  });

  test.each<[string, () => void, string[]]>([
    ['a Pod was lost', () => state.removePod('p'), ['pods']],
    ['a Pod is extra', () => apply(aChange(++n, [fact.pod('r')])), ['pods']],
    ['a Pod differs', () => apply(aChange(++n, [fact.pod('q', true)])), ['pods']],
    ['a Pod has another zone', () => apply(aChange(++n, [fact.pod('p', true, 'b')])), ['pods']],
    [
      'the Service differs',
      () => apply(aChange(++n, [{ kind: 'service', service: aService({ uid: 'x' }) }])),
      ['service'],
    ],
    ['the topology was lost', () => state.setTopology(null), ['topology']],
    ['a slice was lost', () => state.removeSlice('s'), ['slices']],
    ['a slice is older', () => state.setSlice('s', { slice: aSlice('s', { version: 6 }), stamp: null }), ['slices']],
    [
      'a slice is extra',
      () => state.setSlice('t', { slice: aSlice('t', { version: 9 }), stamp: { epoch: 1, sequence: 1 } }),
      ['slices'],
    ],
    [
      'a slice is of a time before etcd was restored',
      () => state.setSlice('s', { slice: aSlice('s', { version: 8 }), stamp: { epoch: 1, sequence: 1 } }),
      ['slices'],
    ],
    [
      'Endpoints are of a time before etcd was restored',
      () => state.setEndpoints({ endpoints: someEndpoints({ version: 9 }), stamp: { epoch: 1, sequence: 1 } }),
      ['endpoints'],
    ],
    [
      'a slice that was taken for deleted is still published after minutes',
      () => {
        state.addTombstone({ uid: 'uid-s', reportedAt: now - 3_600_000 });
        state.removeSlice('s');
      },
      ['slices'],
    ],
    [
      'a slice that was taken for deleted exists at a later version',
      () => {
        state.addTombstone({ uid: 'uid-s', resourceVersion: '9' });
        state.removeSlice('s');
      },
      ['slices'],
    ],
    ['Endpoints were lost', () => state.setEndpoints(null), ['endpoints']],
    [
      'a slice is extra in the version that the watcher has just reached',
      () => state.setSlice('t', { slice: aSlice('t', { version: 10 }), stamp: { epoch: 1, sequence: 1 } }),
      ['slices'],
    ],
    [
      'a slice is newer than the watcher’s, which has reached its version',
      () => state.setSlice('s', { slice: aSlice('s', { version: 10 }), stamp: null }),
      ['slices'],
    ],
    ['the Service was lost', () => state.setService({ service: null, stamp: { epoch: 1, sequence: 1 } }), ['service']],
    [
      'several parts differ',
      () => {
        state.removePod('p');
        state.setEndpoints(null);
        state.removeSlice('s');
      },
      ['pods', 'endpoints', 'slices'],
    ],
  ])('%s', (_, harm, expected) => {
    harm();
    expect(compared(known)).toEqual(expected);
  });

  test.each<[string, () => void]>([
    [
      'a slice that the watcher has not reached',
      () => state.setSlice('t', { slice: aSlice('t', { version: 11 }), stamp: null }),
    ],
    [
      'a slice newer than the watcher’s',
      () => state.setSlice('s', { slice: aSlice('s', { version: 11 }), stamp: null }),
    ],
    [
      'a slice that Sluice has deleted',
      () => {
        state.addTombstone({ uid: 'uid-s', reportedAt: now });
        state.removeSlice('s');
      },
    ],
    ['newer Endpoints', () => state.setEndpoints({ endpoints: someEndpoints({ version: 12 }), stamp: null })],
  ])('an Outcome may have reported %s', (_, report) => {
    report();
    expect(compared(known)).toEqual([]);
  });

  test('an incomplete or newer state is not compared, nor a digest of another form', () => {
    state.removePod('p');
    const digest = digestFacts(known);
    expect(compared(known, { digest: { ...digest, version: 99 } })).toEqual([]);
    const older = aChange(++n, [], { resourceVersions, digest });
    apply(aChange(++n, []));
    expect(differences(state, older, now)).toEqual([]);
    state.setSnapshot({ ...state.snapshot, complete: false });
    expect(compared(known)).toEqual([]);
    expect(compared(known, { digest })).toEqual([]);
    state.setSnapshot({ ...state.snapshot, complete: true });
    expect(compared(known)).toEqual(['pods']);
  });

  test('a state without snapshot awaits one if the watcher knows content', () => {
    const change = (facts: readonly Fact[]) => aChange(++n, [], { resourceVersions, digest: digestFacts(facts) });
    expect(awaitsSnapshot(state, change(known))).toBe(false);
    state = new ServiceState(key);
    expect(awaitsSnapshot(state, change([]))).toBe(false);
    expect(awaitsSnapshot(state, aChange(++n, []))).toBe(false);
    expect(awaitsSnapshot(state, change(known))).toBe(true);
  });

  test('a state with an open snapshot is not compared, and awaits none', () => {
    state.removePod('p');
    const open = { since: { epoch: 1, sequence: 1 }, initial: false, resourceVersions };
    state.setSnapshot({ ...state.snapshot, open });
    expect(compared(known)).toEqual([]);
    state.setSnapshot({ ...state.snapshot, complete: false });
    expect(awaitsSnapshot(state, aChange(++n, [], { resourceVersions, digest: digestFacts(known) }))).toBe(false);
  });

  test.each<[string, Fact]>([
    ['a Service', { kind: 'service', service: aService() }],
    ['a topology', topology],
    ['a Pod', fact.pod('p')],
    ['a slice', fact.slice('s')],
  ])('%s alone needs a snapshot', (_, content) => {
    state = new ServiceState(key);
    expect(awaitsSnapshot(state, aChange(++n, [], { resourceVersions, digest: digestFacts([content]) }))).toBe(true);
  });

  test('Endpoints alone need a snapshot only if they are to be deleted', () => {
    const endpoints: Fact = { kind: 'endpoints', endpoints: someEndpoints({ version: 10 }), uid: 'e' };
    const change = aChange(++n, [], { resourceVersions, digest: digestFacts([endpoints]) });
    state = new ServiceState(key);
    expect(awaitsSnapshot(state, change)).toBe(false);
    state.setOrphaned(true);
    expect(awaitsSnapshot(state, change)).toBe(true);
  });
});

const service = { kind: 'service' as const, service: aService() };

/** Endpoints of this version, as the watcher has them. */
const endpoints = (resourceVersion: number, uid = 'e') => fact.endpoints({ version: resourceVersion, uid });

/** A state that knows Endpoints of version 60. */
function stateWithEndpoints(): ServiceState {
  const state = new ServiceState(key);
  evolve(state, aSnapshot(1, [service, endpoints(60)], { initial: true }), 0, settings);
  return state;
}

describe('a restore from a backup is proven by Endpoints', () => {
  test('that are listed in an older version than one that was written before the list', () => {
    const change = aSnapshot([2, 1], [service, endpoints(50)], { endpoints: '1000', initial: true });
    expect(proofOfRestore(stateWithEndpoints(), change)).toBe('Endpoints were listed at 1000 in version 50 after 60');
  });

  test.each([
    ['a list from before the write', aSnapshot([2, 1], [endpoints(50)], { endpoints: '59' })],
    ['a late event of an earlier version', aChange(2, [endpoints(50)])],
    ['the version that was written', aSnapshot([2, 1], [endpoints(60)], { endpoints: '1000' })],
    ['Endpoints that were created again', aSnapshot([2, 1], [endpoints(50, 'another')], { endpoints: '1000' })],
    ['their absence', aSnapshot([2, 1], [service], { endpoints: '1000' })],
  ])('not by %s', (_, change) => {
    expect(proofOfRestore(stateWithEndpoints(), change)).toBeUndefined();
  });
});

/** A state that knows the slice `s` of version 60 and generation 4. */
function stateWithSlice(): ServiceState {
  const state = new ServiceState(key);
  evolve(state, aSnapshot(1, [service, sliceFact(60, 4)], { initial: true }), 0, settings);
  return state;
}

function sliceFact(version: number, generation: number, given: Parameters<typeof fact.slice>[1] = {}): Fact {
  const found = fact.slice('s', { version, ...given });
  if (found.kind !== 'slice' || found.slice === null) throw new Error('no slice');
  return { ...found, slice: { ...found.slice, metadata: { ...found.slice.metadata, generation } } };
}

describe('a restore from a backup is proven by a slice', () => {
  const listed = (facts: readonly Fact[], endpointslices = '1000') => aSnapshot([2, 1], facts, { endpointslices });

  test.each([
    ['after the write', '1000'],
    ['at the version of the write', '60'],
  ])('that is listed in an older version and generation, %s', (_, at) => {
    expect(proofOfRestore(stateWithSlice(), listed([service, sliceFact(50, 3)], at))).toBe(
      `slice s was listed at ${at} in version 50 after 60`,
    );
  });

  test('that is listed in an older version of the same generation: its metadata had changed', () => {
    expect(proofOfRestore(stateWithSlice(), listed([service, sliceFact(50, 4)]))).toContain('in version 50 after 60');
  });

  test('in a Change of a snapshot that is open', () => {
    const state = stateWithSlice();
    const resourceVersions = { endpoints: '9', endpointslices: '900' };
    const begin = aChange(2, [service], {
      snapshot: { first: true, last: false, initial: false, resourceVersions },
      resourceVersions,
    });
    evolve(state, begin, 0, settings);
    expect(proofOfRestore(state, aChange(3, [sliceFact(50, 3)]))).toContain('listed at 900');
  });

  test.each<[string, Change]>([
    ['a list from before the write', listed([sliceFact(50, 3)], '59')],
    ['a late event of an earlier version', aChange(2, [sliceFact(50, 3)])],
    ['the version that was written', listed([sliceFact(60, 4)])],
    ['a newer version', listed([sliceFact(70, 5)])],
    ['a slice that was created again', listed([sliceFact(50, 3, { uid: 'another' })])],
    ['a slice that is not known', listed([fact.slice('t', { version: 50 })])],
    ['its absence', listed([service, fact.sliceGone('s')])],
    ['a Change that was applied before', aSnapshot(1, [sliceFact(50, 3)], { endpointslices: '1000' })],
  ])('not by %s', (_, change) => {
    expect(proofOfRestore(stateWithSlice(), change)).toBeUndefined();
  });

  test('not by a slice that none of the controllers manages', () => {
    const state = new ServiceState(key);
    const foreign = { manager: 'someone-else' };
    evolve(state, aSnapshot(1, [service, sliceFact(60, 4, foreign)], { initial: true }), 0, settings);
    expect(proofOfRestore(state, listed([sliceFact(50, 3, foreign)]))).toBeUndefined();
  });
});

test('an object that was deleted and is restored comes back if messages were lost', () => {
  const state = new ServiceState(key);
  evolve(state, aSnapshot(1, [service, fact.slice('web-1')], { initial: true }), 0, settings);
  const resourceVersions = { endpoints: '100', endpointslices: '100' };
  evolve(state, aChange(2, [fact.sliceGone('web-1')], { resourceVersions }), 0, settings);
  evolve(state, aSnapshot(3, [service, fact.slice('web-1')]), 0, settings);
  expect([...state.slices.keys()], 'a late event').toEqual([]);
  evolve(state, { kind: 'messagesLost' }, 0, settings);
  evolve(state, aSnapshot(4, [service, fact.slice('web-1')]), 0, settings);
  expect([...state.slices.keys()], 'a snapshot after a loss').toEqual(['web-1']);
});

describe('a restore from a backup is proven by an Outcome', () => {
  const decidedOn = { ...aSlice('s', { version: 60 }) };
  const update: Mutation = { verb: 'update', resource: 'endpointslices', object: decidedOn };
  const remove: Mutation = {
    verb: 'delete',
    resource: 'endpointslices',
    name: 's',
    uid: 'uid-s',
    resourceVersion: '60',
  };
  const create: Mutation = { verb: 'create', resource: 'endpointslices', object: decidedOn };

  function proofOf(mutation: Mutation, current: EndpointSlice | null | undefined): string | undefined {
    const state = new ServiceState(key);
    const plan = { key, controller: 'endpointslice', plan: { epoch: 1, number: 1 }, decidedAt: 0 };
    const message = { ...plan, groups: [{ mutations: [mutation] }] } as unknown as PlannedMutations;
    const inFlight = {
      message,
      triggersAfter: null,
      hintsAfter: null,
      watchEchoes: {},
      redeliverAt: 0,
      redeliveries: 0,
    };
    state.setController('endpointslice', { ...state.controller('endpointslice'), inFlight });
    const { verb, resource } = mutation;
    const result = { group: 0, index: 0, verb, resource, name: 's', status: 'failed' as const };
    const results = [{ ...result, ...(current !== undefined && { current }) }];
    return proofOfRestoreByOutcome(state, { ...anOutcome({ ...message, groups: [] }), results });
  }

  test.each<[string, Mutation]>([
    ['an update', update],
    ['a deletion', remove],
  ])('of %s that finds the object in an older version than it was decided on', (_, mutation) => {
    expect(proofOf(mutation, aSlice('s', { version: 50 }))).toBe('endpointslices s was read in version 50 after 60');
  });

  test.each<[string, Mutation, EndpointSlice | null | undefined]>([
    ['a newer version', update, aSlice('s', { version: 61 })],
    ['the same version', update, aSlice('s', { version: 60 })],
    ['another object of that name', update, aSlice('s', { version: 50, uid: 'another' })],
    ['no object', update, null],
    ['an object that could not be read', update, undefined],
    ['an object in place of one to be created', create, aSlice('s', { version: 50 })],
  ])('not by %s', (_, mutation, current) => {
    expect(proofOf(mutation, current)).toBeUndefined();
  });
});
