import type { Service } from '@sluice/controllers';
import { aService, httpPort } from '@sluice/controllers/testing';
import { expect, test } from 'vitest';
import { describeServiceChange } from './describe-service-change.ts';

const topologyMode = { 'service.kubernetes.io/topology-mode': 'Auto' };

test.each<[string, Partial<Service>]>([
  ['is being deleted', { deleting: true }],
  ['changed its selector: selector app=cart,tier=back', { selector: { app: 'cart', tier: 'back' } }],
  ['changed its selector: no selector (custom endpoints)', { selector: null }],
  ['changed its selector: an empty selector, which matches every Pod of the namespace', { selector: {} }],
  ['changed its ports', { ports: [{ ...httpPort, targetPort: 9090 }] }],
  ['changed its type to ExternalName', { type: 'ExternalName' }],
  ['changed its IP families', { clusterIP: 'None' }],
  ['changed its IP families', { ipFamilies: ['IPv6'] }],
  ['publishes not-ready addresses', { publishNotReadyAddresses: true }],
  ['changed its traffic distribution to PreferSameZone', { trafficDistribution: 'PreferSameZone' }],
  ['changed its labels', { labels: { team: 'shop' } }],
  ['changed its annotations for topology hints', { annotations: topologyMode }],
])('a Service %s', (text, given) => {
  expect(describeServiceChange(aService(), aService(given))).toEqual([text]);
});

test.each<[string, Partial<Service>]>([
  ['no longer publishes not-ready addresses', { publishNotReadyAddresses: true }],
  ['changed its traffic distribution to (none)', { trafficDistribution: 'PreferSameZone' }],
  ['changed its selector: selector app=web', { selector: null }],
])('a Service %s', (text, before) => {
  expect(describeServiceChange(aService(before), aService())).toEqual([text]);
});

test('says everything that changed at once', () => {
  const after = aService({ deleting: true, ports: [], labels: { team: 'shop' } });
  expect(describeServiceChange(aService(), after)).toEqual([
    'is being deleted',
    'changed its ports',
    'changed its labels',
  ]);
});

test('says nothing if nothing changed that affects endpoints', () => {
  expect(describeServiceChange(aService(), aService({ creationTimestamp: '2026-02-02T00:00:00Z' }))).toEqual([]);
  expect(describeServiceChange(aService({ deleting: true }), aService({ deleting: true }))).toEqual([]);
  expect(describeServiceChange(null, null)).toEqual([]);
});

test('a Service exists, is deleted, or is another one of the same name', () => {
  expect(describeServiceChange(null, aService())).toEqual(['exists with selector app=web']);
  expect(describeServiceChange(aService(), null)).toEqual(['was deleted']);
  expect(describeServiceChange(aService(), aService({ uid: 'another', ports: [] }))).toEqual([
    'was deleted and recreated with selector app=web',
  ]);
});
