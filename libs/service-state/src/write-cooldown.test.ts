import type { Endpoints, Mutation } from '@sluice/controllers';
import { describe, expect, test } from 'vitest';
import { writeCooldownMs } from './write-cooldown.ts';

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
    const rest = writeCooldownMs({ controller: 'endpoints', groups: [{ mutations: [endpointsOf(900, 100)] }] }, 0);
    expect(rest).toBe(250);
  });

  test('not at all if they are few, or deleted', () => {
    expect(writeCooldownMs({ controller: 'endpoints', groups: [{ mutations: [endpointsOf(99, 0)] }] }, 0)).toBe(0);
    const deletion: Mutation = { verb: 'delete', resource: 'endpoints', name: 'web' };
    expect(writeCooldownMs({ controller: 'endpoints', groups: [{ mutations: [deletion] }] }, 0)).toBe(0);
  });
});

describe('how long slices and short Endpoints rest', () => {
  const deletion: Mutation = { verb: 'delete', resource: 'endpointslices', name: 'web-1' };
  const rest = (tookMs: number) =>
    writeCooldownMs({ controller: 'endpointslice', groups: [{ mutations: [deletion] }] }, tookMs);

  test('not at all after a plan that was carried out promptly, or by a clock that is behind', () => {
    expect([rest(0), rest(20), rest(-5000)]).toEqual([0, 0, 0]);
  });

  test('the longer, the longer that took, up to a limit', () => {
    expect(rest(50)).toBeGreaterThan(0);
    expect(rest(80)).toBeGreaterThan(rest(50));
    expect(rest(60_000)).toBe(75);
  });

  test('as long as their size asks for, if that is longer', () => {
    const groups = [{ mutations: [endpointsOf(2000, 0)] }];
    expect(writeCooldownMs({ controller: 'endpoints', groups }, 60_000)).toBe(500);
  });
});
