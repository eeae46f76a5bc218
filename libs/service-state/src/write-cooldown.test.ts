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

describe('the cooldown of Endpoints', () => {
  test('grows with the number of addresses, ready or not', () => {
    const cooldown = writeCooldownMs({ controller: 'endpoints', groups: [{ mutations: [endpointsOf(900, 100)] }] }, 0);
    expect(cooldown).toBe(250);
  });

  test('is zero if they are few or deleted', () => {
    expect(writeCooldownMs({ controller: 'endpoints', groups: [{ mutations: [endpointsOf(99, 0)] }] }, 0)).toBe(0);
    const deletion: Mutation = { verb: 'delete', resource: 'endpoints', name: 'web' };
    expect(writeCooldownMs({ controller: 'endpoints', groups: [{ mutations: [deletion] }] }, 0)).toBe(0);
  });
});

describe('the cooldown after a slow plan', () => {
  const deletion: Mutation = { verb: 'delete', resource: 'endpointslices', name: 'web-1' };
  const ofSlices = (tookMs: number) =>
    writeCooldownMs({ controller: 'endpointslice', groups: [{ mutations: [deletion] }] }, tookMs);
  const ofEndpoints = (tookMs: number, addresses = 20) =>
    writeCooldownMs({ controller: 'endpoints', groups: [{ mutations: [endpointsOf(addresses, 0)] }] }, tookMs);

  test.each([ofSlices, ofEndpoints])(
    'is zero after a plan that was applied promptly, or with a clock that is behind',
    (cooldown) => {
      expect([cooldown(0), cooldown(20), cooldown(-5000)]).toEqual([0, 0, 0]);
    },
  );

  test('is the same for slices and small Endpoints unless the API server is saturated', () => {
    for (let tookMs = 0; tookMs <= 50; tookMs++) expect(ofEndpoints(tookMs)).toBe(ofSlices(tookMs));
    expect(ofSlices(50)).toBe(30);
  });

  test('grows with the time to apply, up to a limit', () => {
    expect(ofSlices(80)).toBeGreaterThan(ofSlices(50));
    expect(ofSlices(60_000)).toBe(75);
    for (let tookMs = 20; tookMs < 200; tookMs++) {
      expect(ofEndpoints(tookMs + 1)).toBeGreaterThanOrEqual(ofEndpoints(tookMs));
    }
    expect(ofEndpoints(60_000)).toBe(maxCooldownMs);
  });

  test('lets Endpoints give way to slices on a saturated API server', () => {
    expect(ofEndpoints(100)).toBe(1_000);
    expect(ofEndpoints(100)).toBeGreaterThan(10 * ofSlices(100));
  });

  test('is that of the size, if the plan took no longer than one of its size does', () => {
    expect([0, 300, 550].map((tookMs) => ofEndpoints(tookMs, 2_000))).toEqual([500, 500, 500]);
    expect(ofEndpoints(60_000, 2_000)).toBe(maxCooldownMs);
  });
});
