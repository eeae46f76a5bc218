import type { Mutation } from '@sluice/controllers';
import { expect, test } from 'vitest';
import { aPlan, aSlice, create, someEndpoints } from '../testing/plans.ts';
import { writePriority } from './write-priority.ts';

const now = 1_000_000;
const causedAt = (observedAt: number) => ({ causes: { first: [{ description: 'test', observedAt }], more: 0 } });

function bulk(slices: number, endpoints: number): readonly (readonly Mutation[])[] {
  const [endpoint] = aSlice('x').endpoints ?? [];
  const object = {
    ...aSlice('x'),
    endpoints: Array.from({ length: endpoints }, () => endpoint).flatMap((e) => e ?? []),
  };
  return [Array.from({ length: slices }, () => ({ verb: 'create', resource: 'endpointslices', object }) as const)];
}

test('of two plans of equal size, the one with the older change goes first', () => {
  const [older, newer] = [causedAt(now - 500), causedAt(now - 400)];
  expect(writePriority(aPlan([[create('a')]], older), now)).toBeLessThan(
    writePriority(aPlan([[create('a')]], newer), now),
  );
});

test('a small change goes before a large one that is slightly older', () => {
  const large = writePriority(aPlan(bulk(50, 100), causedAt(now - 1_000)), now);
  expect(writePriority(aPlan([[create('a')]], causedAt(now)), now)).toBeLessThan(large);
});

test('a plan of any size goes before changes that are ten seconds newer', () => {
  const large = writePriority(aPlan(bulk(1_000, 1_000), causedAt(now - 10_001)), now);
  expect(large).toBeLessThan(writePriority(aPlan([[create('a')]], causedAt(now)), now));
});

test('a skewed clock cannot put a plan ahead of all others', () => {
  expect(writePriority(aPlan([[create('a')]], causedAt(0)), now)).toBeGreaterThan(now - 61_000);
  expect(writePriority(aPlan([[create('a')]], causedAt(now * 2)), now)).toBeLessThanOrEqual(now + 100);
});

test('Endpoints count by their addresses', () => {
  const subsets = [
    { addresses: Array.from({ length: 1_000 }, () => ({ ip: '10.0.0.1' })), notReadyAddresses: null, ports: null },
  ];
  const large: Mutation = { verb: 'create', resource: 'endpoints', object: { ...someEndpoints, subsets } };
  const empty: Mutation = { verb: 'create', resource: 'endpoints', object: { ...someEndpoints, subsets: null } };
  expect(
    writePriority(aPlan([[large]], causedAt(now)), now) - writePriority(aPlan([[empty]], causedAt(now)), now),
  ).toBe(1_000);
});

test('under contention, slices go before slightly older Endpoints', () => {
  const endpoints = writePriority(aPlan([[create('a')]], { ...causedAt(now - 400), controller: 'endpoints' }), now);
  const slices = (observedAt: number) =>
    writePriority(aPlan([[create('a')]], { ...causedAt(observedAt), controller: 'endpointslice' }), now);
  expect(slices(now)).toBeLessThan(endpoints);
  expect(writePriority(aPlan([[create('a')]], { ...causedAt(now - 600), controller: 'endpoints' }), now)).toBeLessThan(
    slices(now),
  );
});
