import { noCauses } from '@sluice/messages';
import { aController } from '@sluice/service-state/testing';
import { MemoryStore } from '@sluice/store';
import { describe, expect, test } from 'vitest';
import { findByName, findParked, matchesFilter, type ParkedKey, toParkedKey } from './parked-key.ts';

const state = (retries: object = {}, dueAt: number | null = 2_000) =>
  aController({ retries: { parked: 'forbidden', parkedSince: 500, ...retries }, timers: { dueAt } });

/** A store with these fields in partition 1. */
async function storeWith(...entries: { key: string; field: string; value: unknown }[]) {
  const store = new MemoryStore();
  const checkpoint = { offset: 1, id: 'a', streamId: 'l' };
  await store.commit({ scope: 'reconciler/1', fencingToken: 1, expectedOffset: 0, checkpoint, entries });
  return store;
}

test('finds the parked keys of all partitions, by name', async () => {
  const store = await storeWith(
    { key: 'c/shop/web', field: 'controller/endpointslice', value: state() },
    { key: 'c/shop/db', field: 'controller/endpoints', value: state({ parkedSince: null }, null) },
    { key: 'c/shop/cart', field: 'controller/endpoints', value: state() },
    { key: 'c/shop/ok', field: 'controller/endpoints', value: state({ parked: null }) },
    { key: 'c/shop/web', field: 'controller/endpointslice/tracked', value: {} },
  );
  expect((await findParked(store, 2)).map(({ name }) => name)).toEqual([
    ...['c/shop/cart/endpoints', 'c/shop/db/endpoints', 'c/shop/web/endpointslice'],
  ]);
  expect((await findParked(store, 2)).slice(1)).toEqual([
    {
      ...{ name: 'c/shop/db/endpoints', key: { cluster: 'c', namespace: 'shop', service: 'db' } },
      ...{ controller: 'endpoints', reason: 'forbidden', since: 0, nextTryAt: null, causes: noCauses },
    },
    {
      ...{ name: 'c/shop/web/endpointslice', key: { cluster: 'c', namespace: 'shop', service: 'web' } },
      ...{ controller: 'endpointslice', reason: 'forbidden', since: 500, nextTryAt: 2_000, causes: noCauses },
    },
  ]);
  expect(await findParked(store, 1)).toEqual([]);
});

test.each([
  ['no object', 'c/shop/web', null],
  ['a text', 'c/shop/web', 'parked'],
  ['an object without fields', 'c/shop/web', {}],
  ['a state whose reason is no text', 'c/shop/web', state({ parked: 7 })],
  ['a state of no Service', 'partition', state()],
])('%s in the store hides no other parked key', async (_, key, value) => {
  const field = 'controller/endpointslice';
  const store = await storeWith({ key, field, value }, { key: 'c/shop/db', field, value: state() });
  expect((await findParked(store, 2)).map(({ name }) => name)).toEqual(['c/shop/db/endpointslice']);
});

const parked = (cluster: string, name: string, controller: ParkedKey['controller'], clusterName?: string) =>
  toParkedKey({
    ...{ cluster, namespace: 'shop', name, controller, message: 'denied', since: 7_000, nextTryAt: null },
    ...(clusterName !== undefined && { clusterName }),
  });
const [web, webEndpoints, other] = [
  parked('c1', 'web', 'endpointslice', 'west'),
  parked('c1', 'web', 'endpoints', 'west'),
  parked('c2', 'web', 'endpoints'),
] as const;
const keys = [web, webEndpoints, other];

test('a response of the console has no causes', () => {
  expect(parked('c1', 'web', 'endpointslice', 'west')).toEqual({
    ...{ name: 'c1/shop/web/endpointslice', key: { cluster: 'c1', namespace: 'shop', service: 'web' } },
    ...{ clusterName: 'west', controller: 'endpointslice', reason: 'denied', since: 7_000, nextTryAt: null },
    causes: noCauses,
  });
  expect(parked('c2', 'web', 'endpoints')).not.toHaveProperty('clusterName');
});

test.each<[string, readonly ParkedKey[]]>([
  ['shop/web', keys],
  ['west/shop/web', [web, webEndpoints]],
  ['c1/shop/web', [web, webEndpoints]],
  ['c2/shop/web', [other]],
  ['shop/web/endpoints', [webEndpoints, other]],
  ['c1/shop/web/endpoints', [webEndpoints]],
  ['web', []],
  ['shop/we', []],
])('%s names these keys', (text, expected) => {
  expect(findByName(keys, text)).toEqual(expected);
});

describe('a filter', () => {
  test.each<[string, Parameters<typeof matchesFilter>[1], readonly ParkedKey[]]>([
    ['without conditions', {}, keys],
    ['with the UID of a cluster', { cluster: 'c1' }, [web, webEndpoints]],
    ['with the name of a cluster', { cluster: 'west' }, [web, webEndpoints]],
    ['with a namespace', { namespace: 'shop' }, keys],
    ['with another namespace', { namespace: 'pay' }, []],
    ['with both', { cluster: 'c2', namespace: 'shop' }, [other]],
    ['with another cluster', { cluster: 'c3', namespace: 'shop' }, []],
  ])('%s', (_, filter, expected) => {
    expect(keys.filter((key) => matchesFilter(key, filter))).toEqual(expected);
  });
});
