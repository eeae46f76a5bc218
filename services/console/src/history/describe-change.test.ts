import type { Change, Fact, Message, PlannedMutations } from '@sluice/messages';
import { type EndpointSlice, endpointSliceMirroringController, managedByLabel, type Service } from '@sluice/model';
import { aService, httpPort } from '@sluice/model/testing';
import { describe, expect, test } from 'vitest';
import {
  anOutcome,
  aPlan,
  endpointsFact,
  journalOf,
  observed,
  pod,
  podChange,
  service,
  sliceFact,
  sliceOf,
  snapshot,
  writeOfEndpoints,
} from '../testing/records.ts';
import { describeServiceChange } from './describe-change.ts';

const slice = (version: string, endpoints?: EndpointSlice['endpoints']): EndpointSlice => ({
  ...sliceOf('web-1', { version, ready: true }),
  ...(endpoints !== undefined && { endpoints }),
});
const custom = (...addresses: string[]) => addresses.map((address) => ({ addresses: [address] }));

const first = snapshot(1, 1_000, [service(), pod('web-1', {})]);
const written: readonly Message[] = [
  first,
  aPlan(1, 1_010, [{ verb: 'create', object: slice('') }]),
  anOutcome(1, 1_020, 1_000, [{ verb: 'create', version: '11' }]),
];

/** What is observed of these facts, which arrive at 2 s. */
const observedOf = (before: readonly Message[], ...facts: Fact[]) =>
  observed(journalOf(...before, podChange(2, 2_000, ...facts))).slice(observed(journalOf(...before)).length);

/** A plan that deletes the slice or the Endpoints. */
function deletion(controller: 'endpoints' | 'endpointslice', uid: string): PlannedMutations {
  const resource = controller === 'endpoints' ? 'endpoints' : 'endpointslices';
  const name = controller === 'endpoints' ? 'web' : 'web-slice';
  const mutations = [{ verb: 'delete', resource, name, uid }] as const;
  return { ...aPlan(2, 1_500, []), controller, groups: [{ mutations: [...mutations] }] } as PlannedMutations;
}

describe('a slice that Sluice did not write', () => {
  test('exists with its endpoints', () => {
    expect(observedOf([first], sliceFact(slice('12')))).toEqual(['slice web-slice exists with 1 endpoints']);
    const empty = { ...slice('12'), endpoints: null } as EndpointSlice;
    expect(observedOf([first], sliceFact(empty))).toEqual(['slice web-slice exists with 0 endpoints']);
  });

  test.each<[string, EndpointSlice['endpoints']]>([
    ['', slice('').endpoints],
    [': ~ web-1', slice('').endpoints?.map((endpoint) => ({ ...endpoint, zone: 'b' }))],
    [': + 10.0.0.9 10.0.0.8, − web-1', [{ addresses: ['10.0.0.9', '10.0.0.8'] }]],
    [': + 1.1.1.1, + 2.2.2.2, + 3.3.3.3, + 4.4.4.4, − web-1', custom('1.1.1.1', '2.2.2.2', '3.3.3.3', '4.4.4.4')],
    [
      ': + 1.1.1.1, + 2.2.2.2, + 3.3.3.3, + 4.4.4.4, + 5.5.5.5, 2 more',
      custom('1.1.1.1', '2.2.2.2', '3.3.3.3', '4.4.4.4', '5.5.5.5', '6.6.6.6'),
    ],
  ])('was modified by another client%s', (text, endpoints) => {
    expect(observedOf(written, sliceFact(slice('15', endpoints)))).toEqual([
      `slice web-slice was modified by another client${text}`,
    ]);
  });

  test('was modified by the field manager of this slice', () => {
    const other = sliceFact(slice('20'), { name: 'other', uid: 'other', manager: 'helm' });
    const facts = [other, sliceFact(slice('15', []), { manager: 'kubectl-edit' })];
    expect(observedOf(written, ...facts)).toEqual([
      'slice other was created by helm with 1 endpoints',
      'slice web-slice was modified by kubectl-edit: − web-1',
    ]);
  });
});

test('a slice is not mentioned when the watch delivers what mirroring writes', () => {
  const metadata = { ...slice('').metadata, labels: { [managedByLabel]: endpointSliceMirroringController } };
  const mirrored = (version: string) => ({ ...slice(version), metadata: { ...metadata, resourceVersion: version } });
  const plan = {
    ...aPlan(1, 1_010, [{ verb: 'create', object: mirrored('') }]),
    controller: 'endpointslicemirroring',
  } as const;
  expect(observedOf([first, plan], sliceFact(mirrored('11')))).toEqual([]);
});

describe('a slice that is gone', () => {
  test.each<[string, Partial<Extract<Fact, { kind: 'slice' }>>]>([
    ['was deleted by another client', {}],
    ['was relabelled to another Service', { relabelled: true }],
    ['was relabelled to Service cart', { relabelled: true, labelledFor: 'cart' }],
    ['lost its label kubernetes.io/service-name (helm)', { relabelled: true, labelledFor: '', manager: 'helm' }],
  ])('%s', (text, given) => {
    expect(observedOf(written, sliceFact(null, given))).toEqual([`slice web-slice ${text}`]);
  });

  test('is not mentioned if Sluice deletes it, or if it was never known', () => {
    expect(observedOf([...written, deletion('endpointslice', 'slice-uid')], sliceFact(null))).toEqual([]);
    expect(observedOf([...written, deletion('endpointslice', 'another')], sliceFact(null))).toEqual([
      'slice web-slice was deleted by another client',
    ]);
    expect(observedOf([first], sliceFact(null))).toEqual([]);
  });

  test('was deleted by another client, if the watcher has published everything up to a later version', () => {
    const later: Change = { ...podChange(2, 2_000), resourceVersions: { endpoints: '10', endpointslices: '20' } };
    expect(observed(journalOf(...written, later)).at(-1)).toBe('slice web-slice was deleted by another client');
  });
});

test('what a snapshot no longer has was missing from it; what it says to be deleted was deleted', () => {
  const facts = [service(), pod('web-1', {}), pod('web-2', {}), sliceFact(slice('9'))];
  const known = journalOf(snapshot(1, 1_000, facts));
  const since = (...again: Fact[]) =>
    observed(journalOf(snapshot(1, 1_000, facts), snapshot(2, 9_000, again))).slice(observed(known).length);
  expect(since(service(), pod('web-1', {}))).toEqual([
    'pod web-2 was missing from the snapshot',
    'slice web-slice was missing from the snapshot',
  ]);
  const other = sliceFact(
    { ...slice('9'), metadata: { ...slice('9').metadata, name: 'other', uid: 'other' } },
    { name: 'other' },
  );
  expect(since(service(), pod('web-1', {}), pod('web-2', {}), other)).toEqual([
    'slice other exists with 1 endpoints',
    'slice web-slice was missing from the snapshot',
  ]);
  const gone: Fact = { kind: 'pod', name: 'web-2', pod: null, node: null };
  expect(since(service(), pod('web-1', {}), gone, sliceFact(null))).toEqual([
    'pod web-2 was deleted, or its labels no longer match the selector',
    'slice web-slice was deleted by another client',
  ]);
});

describe('Endpoints', () => {
  const [plan, outcome] = writeOfEndpoints(1, 1_010, '11');

  test('exist, or were modified or deleted by another client', () => {
    expect(observedOf([first], endpointsFact('12'))).toEqual(['endpoints web exist']);
    expect(observedOf([first, plan, outcome], endpointsFact('12'))).toEqual([
      'endpoints web were modified by another client',
    ]);
    expect(observedOf([first, plan, outcome], endpointsFact('12', { manager: 'helm' }))).toEqual([
      'endpoints web were modified by helm',
    ]);
    expect(observedOf([first, plan, outcome], endpointsFact(null))).toEqual([
      'endpoints web were deleted by another client',
    ]);
  });

  test('are not mentioned if Sluice deletes them, if they were never known, or if they are as Sluice wrote them', () => {
    const deleting = deletion('endpoints', 'endpoints-uid');
    expect(observedOf([first, plan, outcome, deleting], endpointsFact(null))).toEqual([]);
    expect(observedOf([first], endpointsFact(null))).toEqual([]);
    expect(observedOf([first, plan, outcome], endpointsFact('11'))).toEqual([]);
    expect(observedOf([first, plan], endpointsFact('11'))).toEqual([]);
  });
});

describe('the CPU ratio of the zones', () => {
  const topology = (a: number): Fact => ({
    kind: 'topology',
    topology: { zoneRatios: { a, b: 1 - a }, nodesByZone: { a: 1, b: 1 } },
  });

  test('is mentioned when it changes', () => {
    const before = [snapshot(1, 1_000, [service(), topology(0.5)])];
    expect(observedOf(before, topology(0.6))).toEqual(['topology  changed the CPU ratio of the zones']);
    expect(observedOf(before, topology(0.5))).toEqual([]);
    expect(observedOf(before, pod('web-1', {}))).toHaveLength(1);
  });

  test('and the Pods are not mentioned when the Service is deleted, because they do not matter any more', () => {
    const before = [snapshot(1, 1_000, [service(), topology(0.5), pod('web-1', {})])];
    expect(observedOf(before, { kind: 'service', service: null })).toEqual(['service web was deleted']);
    expect(observedOf(before, service({ deleting: true }), pod('web-1', { ready: false }))).toEqual([
      'service web is being deleted',
      'pod web-1 became not ready',
    ]);
  });
});

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
  ['changed its internal traffic policy to Local', { internalTrafficPolicy: 'Local' }],
  ['changed its external traffic policy to Local', { externalTrafficPolicy: 'Local' }],
  ['changed its labels', { labels: { team: 'shop' } }],
  ['changed its annotations for topology hints', { annotations: topologyMode }],
])('a Service %s', (text, given) => {
  expect(describeServiceChange(aService(), aService(given))).toEqual([text]);
});

test.each<[string, Partial<Service>]>([
  ['no longer publishes not-ready addresses', { publishNotReadyAddresses: true }],
  ['changed its traffic distribution to (none)', { trafficDistribution: 'PreferSameZone' }],
  ['changed its internal traffic policy to Cluster', { internalTrafficPolicy: 'Local' }],
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
