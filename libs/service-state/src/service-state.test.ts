import { expect, test } from 'vitest';
import { ServiceState } from './service-state.ts';
import { key } from './testing/messages.ts';
import { aController, aPod, aService, aSlice, someEndpoints } from './testing/objects.ts';

const stamp = (sequence: number) => ({ epoch: 1, sequence });
const none = { endpoints: '', endpointslices: '' };
const noSnapshot = { open: null, complete: false, stamp: { epoch: 0, sequence: 0 }, resourceVersions: none };

/** Each kind of field: how it is set, and the values that a setter of `1` and of `2` stores. */
const fields: readonly [string, (state: ServiceState, n: number) => void, (n: number) => unknown][] = [
  [
    'pod p',
    (state, n) => state.setPod('p', { pod: aPod('p'), node: null, stamp: stamp(n) }),
    (n) => ({ pod: aPod('p'), node: null, stamp: stamp(n) }),
  ],
  [
    'slice s',
    (state, n) => state.setSlice('s', { slice: aSlice('s'), stamp: stamp(n) }),
    (n) => ({ slice: aSlice('s'), stamp: stamp(n) }),
  ],
  [
    'controller endpoints',
    (state, n) => state.setController('endpoints', aController({ retries: { failures: n } })),
    (n) => aController({ retries: { failures: n } }),
  ],
  [
    'service ',
    (state, n) => state.setService({ service: aService(), stamp: stamp(n) }),
    (n) => ({ service: aService(), stamp: stamp(n) }),
  ],
  [
    'endpoints ',
    (state, n) => state.setEndpoints({ endpoints: someEndpoints(), stamp: stamp(n) }),
    (n) => ({ endpoints: someEndpoints(), stamp: stamp(n) }),
  ],
  [
    'topology ',
    (state, n) => state.setTopology({ zoneRatios: null, nodesByZone: { a: n } }),
    (n) => ({ zoneRatios: null, nodesByZone: { a: n } }),
  ],
  [
    'snapshot ',
    (state, n) => state.setSnapshot({ ...noSnapshot, stamp: stamp(n) }),
    (n) => ({ ...noSnapshot, stamp: stamp(n) }),
  ],
  ['orphaned ', (state, n) => state.setOrphaned(n !== 2), (n) => (n === 2 ? undefined : true)],
  [
    'tombstones ',
    (state, n) => state.addTombstone({ uid: `uid-${n}`, resourceVersion: '7' }),
    (n) => Array.from({ length: n }, (_, i) => ({ uid: `uid-${i + 1}`, resourceVersion: '7' })),
  ],
];

test.each(fields)('a change of %sis reported once, from the first value to the last', (field, set, value) => {
  const [kind = '', name = ''] = field.split(' ');
  const state = new ServiceState(key);
  set(state, 1);
  set(state, 2);
  expect(state.drainChanges()).toEqual([{ kind, name, before: undefined, after: value(2) }]);
  expect(state.drainChanges()).toEqual([]);
  set(state, 3);
  expect(state.drainChanges()[0]?.before).toEqual(value(2));
});

test.each(fields)('%sis in a copy, and apart from the original', (field, set, value) => {
  const original = new ServiceState(key);
  set(original, 1);
  const copy = original.copy();
  expect(copy.drainChanges()).toEqual([]);
  expect(contentOf(copy)).toEqual(contentOf(original));
  const before = contentOf(original);
  set(copy, 2);
  expect(contentOf(original)).toEqual(before);
  const [change] = copy.drainChanges();
  expect([change?.kind, change?.name, change?.after]).toEqual([...field.split(' '), value(2)]);
});

test('a cleared state has nothing left, and removes every stored field', () => {
  const state = new ServiceState(key);
  for (const [, set] of fields) set(state, 1);
  const stored = new Map(state.drainStoredFields('k').map(({ field, value }) => [field, value]));
  state.clear();
  expect(contentOf(state)).toEqual(contentOf(new ServiceState(key)));
  for (const { field, value } of state.drainStoredFields('k')) {
    expect([field, value]).toEqual([field, undefined]);
    stored.delete(field);
  }
  expect([...stored].filter(([, value]) => value !== undefined)).toEqual([]);
});

test('what is not there is not removed', () => {
  const state = new ServiceState(key);
  state.removePod('p');
  state.removeSlice('s');
  state.clearTombstones();
  state.removeTombstone('uid');
  state.setOrphaned(false);
  state.addTombstone({ uid: '', resourceVersion: '7' });
  expect(state.drainChanges()).toEqual([]);
});

function contentOf(state: ServiceState) {
  const { service, endpoints, topology, snapshot, orphaned, tombstones } = state;
  const controller = state.controller('endpoints');
  return { service, endpoints, topology, snapshot, orphaned, tombstones, controller, ...filled(state) };
}

const filled = ({ pods, slices }: ServiceState) => ({ pods: [...pods], slices: [...slices] });
