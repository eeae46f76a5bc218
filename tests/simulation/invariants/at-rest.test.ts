import { VirtualClock } from '@sluice/platform';
import { expect, test } from 'vitest';
import type { SimulatedStore } from '../doubles/simulated-store.ts';
import { SimulatedCluster } from '../simulated-cluster.ts';
import { leftovers } from './at-rest.ts';

const cluster = new SimulatedCluster(0, new VirtualClock(1_000), 1, { namespaces: 1 });
const gone = `${cluster.identity}/shop/gone`;

function left(key: string, fields: Readonly<Record<string, unknown>>, mayAwaitProbe = false) {
  const entries = new Map(Object.entries(fields).map(([field, value]) => [`${key}\n${field}`, JSON.stringify(value)]));
  const store = { scopes: ['reconciler/0'], entries: () => entries } as Partial<SimulatedStore> as SimulatedStore;
  return leftovers(store, [cluster], () => mayAwaitProbe);
}

const deleted = { service: { service: null, stamp: {} }, snapshot: { complete: true }, 'controller/endpoints': {} };
const tombstones = [
  { uid: 'a', resourceVersion: '7' },
  { uid: 'b', reportedAt: 500 },
];

test('nothing is kept of a Service that is gone', () => {
  expect(left(`${cluster.identity}/steady/steady-a`, deleted)).toEqual([]);
  expect(left(gone, deleted)).toEqual([
    { what: `reconciler/0 keeps ${gone}: service,snapshot,controller/endpoints`, until: 0 },
  ]);
  expect(left('another/shop/web', deleted)).toHaveLength(1);
});

test('while its watcher may publish an object, what was decided is kept, and no object', () => {
  expect(left(gone, { ...deleted, tombstones })).toMatchObject([{ until: 300_500 }]);
  expect(left(gone, { ...deleted, tombstones: tombstones.slice(0, 1) })).toMatchObject([{ until: 0 }]);
  for (const field of ['pod/p', 'slice/s', 'endpoints', 'topology', 'resync', 'controller/endpoints:plan'])
    expect(left(gone, { ...deleted, tombstones, [field]: {} }), field).toMatchObject([{ until: 0 }]);
});

test('what the liveness probe drops is kept for longer', () => {
  expect(left(gone, deleted, true)).toEqual([]);
});
