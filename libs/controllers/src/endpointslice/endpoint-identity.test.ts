import { type Endpoint, type EndpointPort, fnv1a128 } from '@sluice/model';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  dumpEndpointPort,
  dumpEndpointPorts,
  EndpointSet,
  endpointsEqualBeyondHash,
  isReady,
  portMapKey,
  withSortedAddresses,
} from './endpoint-identity.ts';

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

const http: EndpointPort = { name: 'http', protocol: 'TCP', port: 80, appProtocol: 'h2c' };
const dns: EndpointPort = { name: 'dns', protocol: 'UDP', port: 53 };
const ports = [http, dns, { ...http, port: 81 }, { ...http, port: 82 }];

describe('the key of ports (C25)', () => {
  it('is the same in any order', () => {
    expect(portMapKey(ports.toReversed()).key).toBe(portMapKey(ports).key);
    expect(portMapKey([...ports]).key).toBe(portMapKey(ports).key);
  });

  it('is that of an empty list for none', () => {
    expect(portMapKey(null)).toEqual(portMapKey([]));
    expect(portMapKey(undefined).ports).toEqual([]);
    expect(portMapKey(null).key).not.toBe(portMapKey([{}]).key);
  });

  it.each<[string, EndpointPort]>([
    ['name', { ...http, name: 'web' }],
    ['empty name', { ...http, name: '' }],
    ['missing name', { ...http, name: null }],
    ['protocol', { ...http, protocol: 'UDP' }],
    ['missing protocol', { ...http, protocol: null }],
    ['number', { ...http, port: 81 }],
    ['missing number', { ...http, port: null }],
    ['application protocol', { ...http, appProtocol: 'x' }],
    ['missing application protocol', { ...http, appProtocol: null }],
  ])('depends on the %s', (_, other) => {
    expect(portMapKey([other]).key).not.toBe(portMapKey([http]).key);
  });

  it('takes null fields for missing ones', () => {
    const empty = { name: null, protocol: null, port: null, appProtocol: null };
    expect(portMapKey([empty]).key).toBe(portMapKey([{}]).key);
  });
});

it('ports are written in the order of their hashes (C25, L2)', () => {
  const hashes = portMapKey(ports).ports.map((port) => fnv1a128(dumpEndpointPort(port)));
  expect(hashes).toEqual([...hashes].sort());
  expect(portMapKey(ports.toReversed()).ports).toEqual(portMapKey(ports).ports);
  expect(portMapKey([dns]).ports).toEqual([dns]);
});

it("ports are hashed as Go's dump (L2)", () => {
  const fields = '{Name:(*string)http Protocol:(*v1.Protocol)TCP Port:(*int32)80 AppProtocol:(*string)h2c}';
  const none = '{Name:(*string)<nil> Protocol:(*v1.Protocol)<nil> Port:(*int32)<nil> AppProtocol:(*string)<nil>}';
  expect(dumpEndpointPort(http)).toBe(`(v1.EndpointPort)${fields}`);
  expect(dumpEndpointPorts([http, {}])).toBe(`([]v1.EndpointPort)[${fields} ${none}]`);
  expect(portMapKey([http]).key).toBe(fnv1a128(dumpEndpointPorts([http])));
});
