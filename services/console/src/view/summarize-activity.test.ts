import { expect, test } from 'vitest';
import { type ServiceWrites, summarizeActivity } from './summarize-activity.ts';
import type { WriteInHistory } from './writes-in.ts';

const change = { type: 'added' } as WriteInHistory['endpoints'][number];
const write = (at: number, latencyMs: number | null, given: Partial<WriteInHistory> = {}): WriteInHistory => ({
  ...{ at, latencyMs, status: 'applied', isApplied: true, controller: 'endpointslice' },
  ...{ causes: { first: [], more: 0 }, endpoints: [change] },
  ...given,
});
const writes = (cluster: string, service: string, ...all: WriteInHistory[]): ServiceWrites => ({
  key: { cluster, namespace: 'shop', service },
  clusterName: `name of ${cluster}`,
  writes: all,
});

const services = [
  writes('a', 'cart', write(1, 10), write(2, 20), write(3, null)),
  writes('a', 'web', write(4, 500, { status: 'rejected', endpoints: [] })),
  writes('b', 'cart', write(5, 30, { endpoints: [change, change, change, change] }), write(6, 40)),
  writes('b', 'idle'),
];
const names = (found: ReturnType<typeof summarizeActivity>) => found.map(({ cluster, name }) => `${cluster}/${name}`);

test('adds up the writes of each Service that has some', () => {
  const [first] = summarizeActivity(services, 'service', 'writes');
  expect(first).toEqual({
    ...{ cluster: 'a', clusterName: 'name of a', namespace: 'shop', name: 'cart', services: 1 },
    ...{ writes: 3, failed: 0, endpoints: 3, p50Ms: 10, p99Ms: 20, lastAt: 3 },
  });
});

test.each([
  ['writes', ['a/cart', 'b/cart', 'a/web']],
  ['latency', ['a/web', 'b/cart', 'a/cart']],
  ['endpoints', ['b/cart', 'a/cart', 'a/web']],
  ['failed', ['a/web', 'a/cart', 'b/cart']],
] as const)('is sorted by %s', (sort, order) => {
  expect(names(summarizeActivity(services, 'service', sort))).toEqual(order);
});

test('adds up by cluster', () => {
  expect(summarizeActivity(services, 'cluster', 'writes')).toMatchObject([
    { cluster: 'a', namespace: '', name: '', services: 2, writes: 4, failed: 1, p99Ms: 500 },
    { cluster: 'b', services: 1, writes: 2, endpoints: 5, p50Ms: 30 },
  ]);
});

test('a Service without a known latency has none', () => {
  expect(summarizeActivity([writes('a', 'web', write(1, null))], 'service', 'latency')).toMatchObject([
    { p50Ms: null, p99Ms: null },
  ]);
});
