import type { EndpointSlice, Mutation } from '@sluice/controllers';
import { expect, test } from 'vitest';
import { sliceBytes, watchBytes } from './slice-bytes.ts';
import { someEndpoints } from './testing/objects.ts';

const sliceOf = (addresses: readonly string[]): EndpointSlice => ({
  metadata: { name: 'web-x7k2p', namespace: 'shop' },
  addressType: 'IPv4',
  endpoints: addresses.map((address) => ({
    ...{ addresses: [address], nodeName: 'node-a', zone: 'zone-a', hostname: 'web' },
    targetRef: { kind: 'Pod', namespace: 'shop', name: 'web-0' },
  })),
});

test.each([0, 1, 7, 8, 9, 100, 1000])('a slice with %d similar endpoints has the bytes of all of them', (count) => {
  const perEndpoint = 85 + 'node-a'.length + 'zone-a'.length + 'web'.length + 'shop'.length + 'web-0'.length + 8;
  expect(sliceBytes(sliceOf(Array(count).fill('10.0.0.1')))).toBe(900 + 6 * 'web-x7k2p'.length + count * perEndpoint);
});

test('endpoints of different sizes are measured all over the slice', () => {
  const [short, long] = ['10.0.0.1', '255.255.255.255'];
  const mixed = sliceBytes(sliceOf([...Array(50).fill(short), ...Array(50).fill(long)]));
  const [low, high] = [short, long].map((address) => sliceBytes(sliceOf(Array(100).fill(address)))) as [number, number];
  expect(Math.abs(mixed - (low + high) / 2)).toBeLessThan((high - low) / 8);
});

test('an endpoint has the bytes of what it has', () => {
  const bytes = (endpoint: NonNullable<EndpointSlice['endpoints']>[number]) =>
    sliceBytes({ ...sliceOf([]), endpoints: [endpoint] }) - sliceBytes(sliceOf([]));
  expect(bytes({ addresses: [] })).toBe(85);
  expect(bytes({ addresses: ['10.0.0.1', '10.0.0.2'], targetRef: {} })).toBe(85 + 16);
  expect(sliceBytes({ ...sliceOf([]), endpoints: null })).toBe(sliceBytes(sliceOf([])));
});

test('a watcher of slices receives what a plan writes, and of a deleted slice little', () => {
  const object = sliceOf(['10.0.0.1', '10.0.0.2']);
  const create: Mutation = { verb: 'create', resource: 'endpointslices', object };
  const update: Mutation = { verb: 'update', resource: 'endpointslices', object };
  const remove: Mutation = { verb: 'delete', resource: 'endpointslices', name: 's' };
  const endpoints: Mutation = { verb: 'create', resource: 'endpoints', object: someEndpoints() };
  const bytes = (...mutations: Mutation[]) => watchBytes([{ mutations }]);
  expect(bytes()).toBe(0);
  expect(bytes(create)).toBe(sliceBytes(object));
  expect(bytes(remove, endpoints)).toBe(900);
  expect(bytes(create, update, remove)).toBe(2 * sliceBytes(object) + 900);
  expect(watchBytes([{ mutations: [remove] }, { mutations: [remove] }])).toBe(1800);
});
