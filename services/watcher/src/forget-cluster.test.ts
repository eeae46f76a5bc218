import { MemoryBus, streamStart } from '@sluice/bus';
import { decodeMessage } from '@sluice/messages';
import { MemoryStore } from '@sluice/store';
import { expect, test } from 'vitest';
import { forgetCluster } from './forget-cluster.ts';
import { ledgerScope } from './ledger.ts';

const checkpoint = { offset: 0, id: '', streamId: 'memory' };

async function storeWith(...clusters: readonly string[]): Promise<MemoryStore> {
  const store = new MemoryStore();
  for (const cluster of clusters) {
    const scope = ledgerScope(cluster);
    await store.claim(scope, 1);
    const entries = ['web', 'db'].map((name) => ({ key: `${cluster}/shop/${name}`, field: 'digest', value: 'x' }));
    await store.commit({ scope, fencingToken: 1, expectedOffset: 0, checkpoint, entries });
  }
  return store;
}

test('each partition is told once, and what was told of this cluster goes', async () => {
  const bus = new MemoryBus({ partitions: 3 });
  const store = await storeWith('c', 'd');
  await forgetCluster({ cluster: 'c', epoch: 7, bus, store });
  for (let partition = 0; partition < 3; partition++) {
    const records = await bus.read('changes', partition, streamStart).next(10);
    expect(records.map(({ key }) => key)).toEqual(['c']);
    expect(records.map(({ payload }) => decodeMessage(payload))).toMatchObject([
      { kind: 'clusterRemoved', cluster: 'c', epoch: 7 },
    ]);
  }
  expect(store.peek(ledgerScope('c')).entries).toEqual([]);
  expect(store.peek(ledgerScope('d')).entries).toHaveLength(2);
});

test('whoever is not the last watcher any more tells nobody', async () => {
  const bus = new MemoryBus({ partitions: 1 });
  const store = await storeWith('c');
  await store.claim(ledgerScope('c'), 9);
  await expect(forgetCluster({ cluster: 'c', epoch: 7, bus, store })).rejects.toThrow();
  expect((await bus.end('changes', 0)).offset).toBe(0);
  expect(store.peek(ledgerScope('c')).entries).toHaveLength(2);
});

test('each time has ids of its own, lest a bus take it for the time before', async () => {
  const bus = new MemoryBus({ partitions: 1 });
  for (const epoch of [1, 2]) await forgetCluster({ cluster: 'c', epoch, bus });
  const ids = (await bus.read('changes', 0, streamStart).next(10)).map(({ id }) => id);
  expect(new Set(ids).size).toBe(2);
});
