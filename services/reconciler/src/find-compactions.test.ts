import { type EndpointSlice, endpointSliceController, endpointSliceMirroringController } from '@sluice/model';
import { aService, aSlice } from '@sluice/model/testing';
import { MemoryStore } from '@sluice/store';
import { beforeEach, expect, test } from 'vitest';
import { findCompactions } from './find-compactions.ts';

let store: MemoryStore;

beforeEach(() => {
  store = new MemoryStore();
});

const options = { partitions: 2, maxEndpointsPerSlice: 4, matches: () => true };

/** A slice with so many endpoints. */
function slice(name: string, endpoints: number, manager = endpointSliceController): EndpointSlice {
  const labels = { 'kubernetes.io/service-name': 'web', 'endpointslice.kubernetes.io/managed-by': manager };
  const { metadata } = aSlice(name);
  const addresses = Array.from({ length: endpoints }, (_, i) => `10.0.${name.charCodeAt(0)}.${i}`);
  return aSlice(name, {
    metadata: { ...metadata, labels },
    endpoints: addresses.map((address) => ({ addresses: [address], conditions: { ready: true } })),
  });
}

async function stored(partition: number, key: string, slices: readonly EndpointSlice[], service = aService()) {
  const entries = [
    { key, field: 'service', value: { service, stamp: null } },
    ...slices.map((one) => ({ key, field: `slice/${one.metadata.name}:object`, value: one })),
    ...slices.map((one) => ({ key, field: `slice/${one.metadata.name}`, value: { stamp: null } })),
  ];
  const scope = `reconciler/${partition}`;
  const { offset } = (await store.checkpoint(scope)) ?? { offset: 0 };
  const checkpoint = { offset: offset + 1, id: '', streamId: '' };
  await store.commit({ scope, fencingToken: 1, expectedOffset: offset, checkpoint, entries });
}

test('finds the Services whose slices can be merged, in all partitions', async () => {
  await stored(0, 'c/shop/web', [slice('a', 1), slice('b', 1)]);
  await stored(1, 'c/shop/db', [slice('a', 4), slice('b', 1)]);
  await stored(1, 'c/shop/mail', [slice('a', 2), slice('b', 1), slice('c', 1)]);
  const found = await findCompactions(store, options);
  expect(found.map(({ key, slices, compaction: { removed } }) => [key.service, slices, removed])).toEqual([
    ['mail', 3, 2],
    ['web', 2, 1],
  ]);
});

test('Services that lose more slices per write come first', async () => {
  const wide = [slice('a', 3), slice('b', 3), slice('c', 2), slice('d', 2), slice('e', 2)];
  await stored(0, 'c/shop/wide', wide);
  await stored(0, 'c/shop/few', [slice('a', 1), slice('b', 1)]);
  await stored(1, 'c/shop/many', [slice('a', 1), slice('b', 1), slice('c', 1), slice('d', 1)]);
  const found = await findCompactions(store, options);
  expect(found.map(({ key, compaction: { removed, writes } }) => [key.service, removed, writes])).toEqual([
    ['many', 3, 4],
    ['few', 1, 2],
    ['wide', 2, 5],
  ]);
});

test('counts and merges only slices of the EndpointSlice controller', async () => {
  const mirrored = (name: string) => slice(name, 1, endpointSliceMirroringController);
  const foreign = slice('f', 1, 'someone-else');
  await stored(0, 'c/shop/web', [slice('a', 1), slice('b', 1), mirrored('c'), mirrored('d'), foreign]);
  await stored(0, 'c/shop/db', [slice('a', 1), mirrored('b'), mirrored('c'), foreign]);
  const found = await findCompactions(store, options);
  expect(found.map(({ key, slices, compaction: { removed } }) => [key.service, slices, removed])).toEqual([
    ['web', 2, 1],
  ]);
});

test('leaves out Services that do not match, and deleted ones', async () => {
  await stored(0, 'c/shop/web', [slice('a', 1), slice('b', 1)]);
  await stored(0, 'other/shop/web', [slice('a', 1), slice('b', 1)]);
  const matches = ({ cluster }: { readonly cluster: string }) => cluster === 'c';
  expect((await findCompactions(store, { ...options, matches })).map(({ key }) => key.cluster)).toEqual(['c']);
  await stored(0, 'c/shop/web', [], null as never);
  expect(await findCompactions(store, { ...options, matches })).toEqual([]);
});
