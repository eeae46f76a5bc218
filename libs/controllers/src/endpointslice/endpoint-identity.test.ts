import type { Endpoint } from '@sluice/model';
import { describe, expect, it } from 'vitest';
import { endpointsEqualBeyondHash, isReady, withSortedAddresses } from './endpoint-identity.ts';

const targetRef = {
  ...{ kind: 'Pod', namespace: 'shop', name: 'web-0', uid: 'u' },
  ...{ apiVersion: 'v1', fieldPath: 'spec' },
};
const conditions = { ready: true, serving: true, terminating: false };
const endpoint: Endpoint = { addresses: ['10.0.0.1'], nodeName: 'node-a', zone: 'a', conditions, targetRef };
const both = (a: Endpoint, b: Endpoint) => [endpointsEqualBeyondHash(a, b), endpointsEqualBeyondHash(b, a)];

describe('two versions of an endpoint (C24)', () => {
  it.each<[string, Partial<Endpoint>]>([
    ['the Node', { nodeName: 'node-b' }],
    ['an empty name of the Node', { nodeName: '' }],
    ['the zone', { zone: 'b' }],
    ['readiness', { conditions: { ...conditions, ready: false } }],
    ['serving', { conditions: { ...conditions, serving: false } }],
    ['terminating', { conditions: { ...conditions, terminating: true } }],
    ['the kind of the target', { targetRef: { ...targetRef, kind: 'Node' } }],
    ['the namespace of the target', { targetRef: { ...targetRef, namespace: 'x' } }],
    ['the name of the target', { targetRef: { ...targetRef, name: 'x' } }],
    ['the UID of the target', { targetRef: { ...targetRef, uid: 'x' } }],
    ['the API version of the target', { targetRef: { ...targetRef, apiVersion: 'v2' } }],
    ['the field path of the target', { targetRef: { ...targetRef, fieldPath: 'x' } }],
  ])('differ by %s', (_, given) => {
    expect(both(endpoint, { ...endpoint, ...given })).toEqual([false, false]);
  });

  it.each(['nodeName', 'zone', 'conditions', 'targetRef'] as const)('differ by a missing %s', (field) => {
    const { [field]: _missing, ...others } = endpoint;
    expect(both(endpoint, others)).toEqual([false, false]);
  });

  it.each<[string, Partial<Endpoint>]>([
    ['copies', {}],
    ['with other hints', { hints: { forZones: [{ name: 'b' }] } }],
    ['with other topology', { deprecatedTopology: { a: 'b' } }],
    ['of other versions of the target', { targetRef: { ...targetRef, resourceVersion: '9' } }],
  ])('are equal: %s', (_, given) => {
    expect(both(endpoint, { ...structuredClone(endpoint), ...given })).toEqual([true, true]);
  });

  it('are equal if both lack fields, and texts of the target may be empty', () => {
    const empty = { kind: '', namespace: '', name: '', uid: '', apiVersion: '', fieldPath: '' };
    const bare = { addresses: [] };
    expect(both(bare, { addresses: [] })).toEqual([true, true]);
    expect(both({ ...bare, targetRef: {} }, { ...bare, targetRef: empty })).toEqual([true, true]);
    expect(both({ ...bare, targetRef: {} }, bare)).toEqual([false, false]);
  });
});

it('only a known readiness counts as ready', () => {
  const of = (ready?: boolean | null): Endpoint => ({ addresses: [], conditions: { ready } as object });
  expect(isReady(of(true))).toBe(true);
  for (const other of [of(false), of(null), of(), { addresses: [] }]) expect(isReady(other)).toBe(false);
});

describe('addresses are written in order (C23)', () => {
  it('without a copy if they are', () => {
    for (const addresses of [[], ['b'], ['a', 'b']]) {
      const sorted = { ...endpoint, addresses };
      expect(withSortedAddresses(sorted)).toBe(sorted);
    }
  });

  it('and the rest of the endpoint is the same', () => {
    const addresses = ['c', 'a', 'b'];
    expect(withSortedAddresses({ ...endpoint, addresses })).toEqual({ ...endpoint, addresses: ['a', 'b', 'c'] });
    expect(addresses).toEqual(['c', 'a', 'b']);
  });
});
