import { MemoryBus, streamStart } from '@sluice/bus';
import { decodeMessage } from '@sluice/messages';
import { VirtualClock } from '@sluice/platform';
import { MemoryStore } from '@sluice/store';
import { expect, test } from 'vitest';
import { publishedStateScope } from './published-state.ts';
import { announceRemoval, removeCluster } from './remove-cluster.ts';

const clock = new VirtualClock(1_000);
const checkpoint = { offset: 0, id: '', streamId: 'memory' };

async function storeWith(...clusters: readonly string[]): Promise<MemoryStore> {
  const store = new MemoryStore();
  for (const cluster of clusters) {
    const scope = publishedStateScope(cluster);
    await store.claim(scope, 1);
    const entries = ['web', 'db'].map((name) => ({ key: `${cluster}/shop/${name}`, field: 'digest', value: 'x' }));
    await store.commit({ scope, fencingToken: 1, expectedOffset: 0, checkpoint, entries });
  }
  return store;
}

test('appends one message to each partition and deletes the published state of this cluster only', async () => {
  const bus = new MemoryBus({ partitions: 3 });
  const store = await storeWith('c', 'd');
  await removeCluster({ cluster: 'c', fencingToken: 7, bus, store, clock });
  for (let partition = 0; partition < 3; partition++) {
    const records = await bus.read('changes', partition, streamStart).next(10);
    expect(records.map(({ key }) => key)).toEqual(['c']);
    expect(records.map(({ payload }) => decodeMessage(payload))).toMatchObject([
      { kind: 'clusterRemoved', cluster: 'c', epoch: 7, removedAt: 1_000 },
    ]);
  }
  expect(store.peek(publishedStateScope('c')).entries).toEqual([]);
  expect(store.peek(publishedStateScope('d')).entries).toHaveLength(2);
});

test('a fenced watcher appends nothing', async () => {
  const bus = new MemoryBus({ partitions: 1 });
  const store = await storeWith('c');
  await store.claim(publishedStateScope('c'), 9);
  await expect(removeCluster({ cluster: 'c', fencingToken: 7, bus, store, clock })).rejects.toThrow();
  expect((await bus.end('changes', 0)).offset).toBe(0);
  expect(store.peek(publishedStateScope('c')).entries).toHaveLength(2);
});

test('records have new ids each time, so that the bus does not drop them as duplicates', async () => {
  const bus = new MemoryBus({ partitions: 1 });
  for (const fencingToken of [1, 2]) await removeCluster({ cluster: 'c', fencingToken, bus, clock });
  const ids = (await bus.read('changes', 0, streamStart).next(10)).map(({ id }) => id);
  expect(new Set(ids).size).toBe(2);
});

test('a cluster without published state needs no commit', async () => {
  const bus = new MemoryBus({ partitions: 1 });
  const store = await storeWith('d');
  store.commit = () => Promise.reject(new Error('nothing to commit'));
  await removeCluster({ cluster: 'c', fencingToken: 7, bus, store, clock });
  expect((await bus.end('changes', 0)).offset).toBe(1);
});

test('the state of the cluster is gone before reconcilers hear of it', async () => {
  const store = await storeWith('c');
  const left: number[] = [];
  const bus = new MemoryBus({ partitions: 1 });
  bus.append = async () => {
    left.push(store.peek(publishedStateScope('c')).entries.length);
    return undefined;
  };
  await removeCluster({ cluster: 'c', fencingToken: 7, bus, store, clock });
  expect(left).toEqual([0]);
});

test('each removal under one fencing token has other ids, after other Changes', async () => {
  const bus = new MemoryBus({ partitions: 2 });
  for (const after of [undefined, 0, 5])
    await announceRemoval({ cluster: 'c', fencingToken: 1, bus, clock, ...(after !== undefined && { after }) });
  const ids = new Set<string>();
  for (const partition of [0, 1]) {
    for (const { id } of await bus.read('changes', partition, streamStart).next(10)) ids.add(id);
  }
  expect(ids.size).toBe(6);
});
