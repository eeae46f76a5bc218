import { beforeEach, expect, test } from 'vitest';
import { aPlan, create, remove, update } from '../testing/plans.ts';
import { forbidden, ScriptedCluster } from '../testing/scripted-cluster.ts';
import { findCompetingWrite } from './find-competing-write.ts';

const { signal } = new AbortController();
let cluster: ScriptedCluster;

beforeEach(() => {
  cluster = new ScriptedCluster();
  cluster.objects.set('a', {
    metadata: {
      managedFields: [
        { manager: 'sluice', time: '2026-01-01T00:00:09Z' },
        { manager: 'kubectl-edit', time: '2026-01-01T00:00:01Z' },
        { manager: 'mesh', time: '2026-01-01T00:00:05Z' },
      ],
    },
  });
});

const find = (...mutations: Parameters<typeof aPlan>[0][number]) =>
  findCompetingWrite(aPlan([mutations]), cluster, 'sluice', signal);

test('returns the last write by another manager to the object to be repaired', async () => {
  const competing = { object: 'endpointslices shop/a', manager: 'mesh', at: '2026-01-01T00:00:05.000Z' };
  expect(await find(create('b'), update('a'))).toEqual(competing);
  expect(await find(remove('a'))).toEqual(competing);
});

test('returns no manager for a deleted object or one that cannot be read', async () => {
  expect(await find(create('b'))).toEqual({ object: 'endpointslices shop/b', isReplacement: true });
  cluster.fails('get a', forbidden);
  expect(await find(update('a'))).toEqual({ object: 'endpointslices shop/a' });
  expect(await find()).toBeUndefined();
});
