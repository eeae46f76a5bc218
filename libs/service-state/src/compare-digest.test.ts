import { type Change, digestFacts, type Fact } from '@sluice/messages';
import { beforeEach, expect, test } from 'vitest';
import { awaitsSnapshot, differences } from './compare-digest.ts';
import { evolve } from './evolve.ts';
import { ServiceState } from './service-state.ts';
import { defaultSettings } from './settings.ts';
import { aChange, aSnapshot, fact, key } from './testing/messages.ts';
import { aService, aSlice, someEndpoints } from './testing/objects.ts';

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
  ['a slice newer than the watcher’s', () => state.setSlice('s', { slice: aSlice('s', { version: 11 }), stamp: null })],
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
