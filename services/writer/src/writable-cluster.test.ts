import { beforeEach, expect, test } from 'vitest';
import { ScriptedCluster } from './testing/scripted-cluster.ts';
import { type ClosableCluster, type DrainableCluster, drainable } from './writable-cluster.ts';

const { signal } = new AbortController();
let closed: number;
let orders: number[];
let draining: DrainableCluster;

beforeEach(() => {
  [closed, orders] = [0, []];
  const cluster: ClosableCluster = {
    writer: new ScriptedCluster(),
    limit: {
      run: (order, request) => {
        orders.push(order);
        return request();
      },
    },
    record: () => {},
    close: () => closed++,
  };
  draining = drainable(cluster);
});

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('a cluster without requests is closed at once', async () => {
  await draining.drain();
  expect(closed).toBe(1);
});

test('a cluster is closed when its last request has ended, also one that began meanwhile or failed', async () => {
  const [first, second] = [Promise.withResolvers<string>(), Promise.withResolvers<string>()];
  const { limit } = draining.cluster;
  const response = limit.run(3, () => first.promise, signal);
  const drained = draining.drain();
  await turn();
  const failing = limit.run(4, () => second.promise, signal);
  first.resolve('done');
  expect(await response).toBe('done');
  await turn();
  expect(closed).toBe(0);
  second.reject(new Error('refused'));
  await expect(failing).rejects.toThrow('refused');
  await drained;
  expect(closed).toBe(1);
  expect(orders).toEqual([3, 4]);
});
