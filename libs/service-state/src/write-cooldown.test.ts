import type { Endpoints, Mutation } from '@sluice/controllers';
import { describe, expect, test } from 'vitest';
import { maxCooldownMs, writeCooldownMs } from './write-cooldown.ts';

const endpointsOf = (ready: number, notReady: number): Mutation => {
  const addresses = (count: number, net: number) =>
    Array.from({ length: count }, (_, i) => ({ ip: `10.${net}.${i >> 8}.${i & 255}` }));
  const object: Endpoints = {
    metadata: { name: 'web', namespace: 'shop' },
    subsets: [{ addresses: addresses(ready, 0), notReadyAddresses: addresses(notReady, 1), ports: [{ port: 80 }] }],
  };
  return { verb: 'update', resource: 'endpoints', object };
};

const applied = (tookMs: number, requestedMs = 0) => ({ tookMs, requestedMs });

describe('the cooldown of Endpoints', () => {
  test('grows with the number of addresses, ready or not', () => {
    const cooldown = writeCooldownMs({ groups: [{ mutations: [endpointsOf(900, 100)] }] }, applied(0));
    expect(cooldown).toBe(250);
  });

  test('is zero if they are few or deleted', () => {
    expect(writeCooldownMs({ groups: [{ mutations: [endpointsOf(99, 0)] }] }, applied(0))).toBe(0);
    const deletion: Mutation = { verb: 'delete', resource: 'endpoints', name: 'web' };
    expect(writeCooldownMs({ groups: [{ mutations: [deletion] }] }, applied(0))).toBe(0);
  });
});

describe('the cooldown of slices and small Endpoints', () => {
  const deletion: Mutation = { verb: 'delete', resource: 'endpointslices', name: 'web-1' };
  const cooldown = (tookMs: number) => writeCooldownMs({ groups: [{ mutations: [deletion] }] }, applied(tookMs));

  test('is zero after a plan that was applied promptly, or with a clock that is behind', () => {
    expect([cooldown(0), cooldown(20), cooldown(-5000)]).toEqual([0, 0, 0]);
  });

  test('grows with the time to apply, up to a limit', () => {
    expect(cooldown(50)).toBeGreaterThan(0);
    expect(cooldown(80)).toBeGreaterThan(cooldown(50));
    expect(cooldown(60_000)).toBe(75);
  });

  test('is that of the size, if longer', () => {
    const groups = [{ mutations: [endpointsOf(2000, 0)] }];
    expect(writeCooldownMs({ groups }, applied(60_000))).toBe(500);
  });

  test('is the one that the writer asks for, if longer, up to a limit', () => {
    const requested = (tookMs: number, requestedMs: number) =>
      writeCooldownMs({ groups: [{ mutations: [endpointsOf(20, 0)] }] }, applied(tookMs, requestedMs));
    expect([requested(0, 700), requested(60_000, 700), requested(60_000, 10)]).toEqual([700, 700, 75]);
    expect(requested(0, 3_600_000)).toBe(maxCooldownMs);
  });
});
