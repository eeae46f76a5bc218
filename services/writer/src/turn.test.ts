import type { Mutation } from '@sluice/controllers';
import { expect, test } from 'vitest';
import { aPlan, aSlice, create, someEndpoints } from './testing/plans.ts';
import { turnOf } from './turn.ts';

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

test('of equal size, the one whose change is older comes first', () => {
  const [older, newer] = [causedAt(now - 500), causedAt(now - 400)];
  expect(turnOf(aPlan([[create('a')]], older), now)).toBeLessThan(turnOf(aPlan([[create('a')]], newer), now));
});

test('a small change goes before a large one that is a little older', () => {
  const large = turnOf(aPlan(bulk(50, 100), causedAt(now - 1_000)), now);
  expect(turnOf(aPlan([[create('a')]], causedAt(now)), now)).toBeLessThan(large);
});

test('however large, a plan comes before any change that is ten seconds younger', () => {
  const large = turnOf(aPlan(bulk(1_000, 1_000), causedAt(now - 10_001)), now);
  expect(large).toBeLessThan(turnOf(aPlan([[create('a')]], causedAt(now)), now));
});

test('a clock that is wrong puts nobody before all others for ever', () => {
  expect(turnOf(aPlan([[create('a')]], causedAt(0)), now)).toBeGreaterThan(now - 61_000);
  expect(turnOf(aPlan([[create('a')]], causedAt(now * 2)), now)).toBeLessThanOrEqual(now + 100);
});

test('Endpoints are as large as their addresses', () => {
  const subsets = [
    { addresses: Array.from({ length: 1_000 }, () => ({ ip: '10.0.0.1' })), notReadyAddresses: null, ports: null },
  ];
  const large: Mutation = { verb: 'create', resource: 'endpoints', object: { ...someEndpoints, subsets } };
  const empty: Mutation = { verb: 'create', resource: 'endpoints', object: { ...someEndpoints, subsets: null } };
  expect(turnOf(aPlan([[large]], causedAt(now)), now) - turnOf(aPlan([[empty]], causedAt(now)), now)).toBe(1_000);
});

test('where all must wait, Endpoints let slices pass whose change is a little younger', () => {
  const endpoints = turnOf(aPlan([[create('a')]], { ...causedAt(now - 400), controller: 'endpoints' }), now);
  const slices = (observedAt: number) =>
    turnOf(aPlan([[create('a')]], { ...causedAt(observedAt), controller: 'endpointslice' }), now);
  expect(slices(now)).toBeLessThan(endpoints);
  expect(turnOf(aPlan([[create('a')]], { ...causedAt(now - 600), controller: 'endpoints' }), now)).toBeLessThan(
    slices(now),
  );
});
