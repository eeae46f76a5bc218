import type { Endpoint } from '@sluice/model';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { EndpointSet } from './endpoint-set.ts';

const of = (addresses: readonly string[], name: string, given: Partial<Endpoint> = {}): Endpoint => ({
  addresses,
  targetRef: { namespace: 'shop', name },
  ...given,
});

it('distinguishes endpoints by addresses, hostname and target (C23)', () => {
  const set = new EndpointSet();
  const one = of(['10.0.0.1'], 'a');
  for (const endpoint of [
    one,
    of(['10.0.0.1'], 'b'),
    of(['10.0.0.1'], 'a', { hostname: 'h' }),
    of(['10.0.0.2'], 'a'),
  ]) {
    set.insert(endpoint);
  }
  expect(set.size).toBe(4);
  const newer = of(['10.0.0.1'], 'a', { zone: 'z' });
  set.insert(newer);
  expect(set.size).toBe(4);
  expect(set.get(one)).toBe(newer);
  expect(set.take(one)).toBe(newer);
  expect(set.take(one)).toBeUndefined();
  expect(set.size).toBe(3);
  expect([...set]).toHaveLength(3);
});

it('ignores the order of addresses and a missing target', () => {
  const set = new EndpointSet();
  set.insert(of(['10.0.0.2', '10.0.0.1'], 'a'));
  set.insert({ addresses: ['x'] });
  expect(set.get(of(['10.0.0.1', '10.0.0.2'], 'a'))).toBeDefined();
  expect(set.get(of(['10.0.0.1'], 'a'))).toBeUndefined();
  expect(set.get({ addresses: ['x'], hostname: '', targetRef: { name: '' } })).toBeDefined();
});

it('is a map by identity, for any sequence of changes', () => {
  const endpoints = fc.record({
    addresses: fc.constantFrom(['1'], ['2'], ['1', '2'], ['2', '1'], ['1', '3']),
    hostname: fc.constantFrom('', 'h'),
    targetRef: fc.record({ namespace: fc.constantFrom('shop', 'other'), name: fc.constantFrom('a', 'b') }),
  });
  const identity = ({ addresses, ...others }: Endpoint) => JSON.stringify([[...addresses].sort(), others]);
  const steps = fc.array(fc.tuple(fc.constantFrom('insert', 'insert', 'take'), endpoints), { maxLength: 20 });
  fc.assert(
    fc.property(steps, (all) => {
      const set = new EndpointSet();
      const map = new Map<string, Endpoint>();
      for (const [step, endpoint] of all) {
        const key = identity(endpoint);
        expect(set.get(endpoint)).toBe(map.get(key));
        if (step === 'take') {
          expect(set.take(endpoint)).toBe(map.get(key));
          map.delete(key);
        } else {
          set.insert(endpoint);
          map.set(key, endpoint);
        }
        expect(set.size).toBe(map.size);
        expect([...set].map(identity).sort()).toEqual([...map.keys()].sort());
      }
    }),
    { numRuns: 40 },
  );
});
