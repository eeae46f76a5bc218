import type { Endpoints, Mutation } from '@sluice/controllers';
import { describe, expect, test } from 'vitest';
import { restAfter } from './rest.ts';

const endpointsOf = (ready: number, notReady: number): Mutation => {
  const addresses = (count: number, net: number) =>
    Array.from({ length: count }, (_, i) => ({ ip: `10.${net}.${i >> 8}.${i & 255}` }));
  const object: Endpoints = {
    metadata: { name: 'web', namespace: 'shop' },
    subsets: [{ addresses: addresses(ready, 0), notReadyAddresses: addresses(notReady, 1), ports: [{ port: 80 }] }],
  };
  return { verb: 'update', resource: 'endpoints', object };
};

describe('how long Endpoints rest after a write', () => {
  test('by the number of their addresses, ready or not', () => {
    const rest = restAfter({ controller: 'endpoints', groups: [{ mutations: [endpointsOf(900, 100)] }] });
    expect(rest).toBe(250);
  });

  test('not at all if they are few, or deleted', () => {
    expect(restAfter({ controller: 'endpoints', groups: [{ mutations: [endpointsOf(99, 0)] }] })).toBe(0);
    const deletion: Mutation = { verb: 'delete', resource: 'endpoints', name: 'web' };
    expect(restAfter({ controller: 'endpoints', groups: [{ mutations: [deletion] }] })).toBe(0);
  });
});
