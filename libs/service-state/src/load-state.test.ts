import type { Fact } from '@sluice/messages';
import { expect, test } from 'vitest';
import { loadState } from './load-state.ts';
import { ServiceState } from './service-state.ts';
import { given } from './testing/given.ts';
import { aSnapshot, fact, keyText as key } from './testing/messages.ts';
import { aPod, aService } from './testing/objects.ts';

test.each([
  ['without ratios, as Nodes without enough information give it', null],
  ['with ratios', { a: 0.5, b: 0.5 }],
])('loads a topology %s', (_, zoneRatios) => {
  const value = { zoneRatios, nodesByZone: { a: 1, b: 1 } };
  expect(loadState(key, [{ key, field: 'topology', value }]).topology).toEqual(value);
});

test('names the part of a field that is invalid', () => {
  const value = { zoneRatios: { a: 'half' }, nodesByZone: {} };
  expect(() => loadState(key, [{ key, field: 'topology', value }])).toThrow(
    'stored field topology: zoneRatios.a is invalid',
  );
});

test('a field of an unknown kind is not ignored', () => {
  expect(() => loadState(key, [{ key, field: 'novelty', value: 1 }])).toThrow('stored field novelty is unknown');
});

const stamp = { epoch: 1, sequence: 1 };
const damaged = { metadata: { name: 7 } };

test.each<[string, unknown]>([
  ['service', { service: damaged, stamp }],
  ['endpoints', { endpoints: damaged, stamp }],
  ['pod/p', { pod: { ...aPod('p'), ips: 'none' }, node: null, stamp }],
  ['slice/s', { slice: damaged, stamp: null }],
])('an object that no message can carry is not loaded: %s', (field, value) => {
  expect(() => loadState(key, [{ key, field, value }])).toThrow();
});

test('a plan that no message can carry is not loaded', () => {
  const service: Fact = { kind: 'service', service: aService() };
  const { state } = given(aSnapshot(1, [service, fact.pod('p')])).when();
  const before = state.controller('endpointslice');
  const { inFlight } = before;
  if (inFlight === null) return expect.unreachable('no plan');
  const load = (change: object) => {
    const stored = new ServiceState(state.key);
    const message = { ...inFlight.message, ...change };
    stored.setController('endpointslice', { ...before, inFlight: { ...inFlight, message } });
    return loadState(key, stored.drainStoredFields(key)).controller('endpointslice');
  };
  expect(load({})).toEqual(before);
  expect(() => load({ groups: 'none' })).toThrow();
  const another = 'controller/endpointslice:plan: the plan is for another Service or controller';
  expect(() => load({ key: { ...inFlight.message.key, cluster: 'other' } })).toThrow(another);
  expect(() => load({ controller: 'endpoints' })).toThrow(another);
});

const named = (name: string, namespace: string) => ({ metadata: { name, namespace, uid: 'u', resourceVersion: '1' } });

test.each<[string, string, (name: string, namespace: string) => unknown]>([
  ['service', 'web', (name, namespace) => ({ service: { ...aService(), name, namespace }, stamp })],
  ['endpoints', 'web', (name, namespace) => ({ endpoints: named(name, namespace), stamp })],
  ['pod/p', 'p', (name, namespace) => ({ pod: { ...aPod('p'), name, namespace }, node: null, stamp })],
  ['slice/s', 's', (name, namespace) => ({ slice: { ...named(name, namespace), addressType: 'IPv4' }, stamp: null })],
])('an object that another one was stored for is not loaded: %s', (field, name, value) => {
  const load = (of: string, namespace: string) => () => loadState(key, [{ key, field, value: value(of, namespace) }]);
  expect(load(name, 'shop')).not.toThrow();
  expect(load('other', 'shop')).toThrow(`stored field ${field}: the object is shop/other`);
  expect(load(name, 'blog')).toThrow(`stored field ${field}: the object is blog/${name}`);
});
