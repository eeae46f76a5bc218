import type { Fact } from '@sluice/messages';
import { aPodNamed, aService, aSlice, someEndpoints } from '@sluice/model/testing';
import { defaultSettings, evolve, initialState } from '@sluice/service-state';
import { expect, test } from 'vitest';
import { checkService } from './check-service.ts';

const key = { cluster: 'c', namespace: 'shop', service: 'web' };
const resourceVersions = { endpoints: '1', endpointslices: '1' };

/** The problems of a Service about which a watcher publishes these facts. */
function check(...facts: readonly Fact[]) {
  const state = initialState(key);
  const snapshot = { first: true, last: true, initial: true, resourceVersions };
  const stamp = { epoch: 1, sequence: 1 };
  const causes = { first: [], more: 0 };
  evolve(state, { kind: 'change', key, stamp, facts, causes, resourceVersions, snapshot }, 0, defaultSettings);
  const service = facts.find((one) => one.kind === 'service');
  return checkService(state, service?.similarPods);
}

const service = (given: Parameters<typeof aService>[0] = {}): Fact => ({ kind: 'service', service: aService(given) });
const pod = (name: string, given: Parameters<typeof aPodNamed>[1] = {}): Fact => ({
  ...{ kind: 'pod', name, pod: aPodNamed(name, given), node: { zone: 'a' } },
});

interface Shown {
  readonly pods?: readonly string[];
  readonly ready?: boolean;
  readonly zone?: string;
  readonly managedBy?: string;
}

function slice(
  name: string,
  { pods = ['web-1'], ready = true, zone, managedBy = 'endpointslice-controller.k8s.io' }: Shown = {},
): Fact {
  const endpoints = pods.map((one) => ({
    addresses: aPodNamed(one).ips,
    conditions: { ready, serving: ready, terminating: false },
    targetRef: { kind: 'Pod', name: one },
    ...(zone !== undefined && { hints: { forZones: [{ name: zone }] } }),
  }));
  const labels = { 'kubernetes.io/service-name': 'web', 'endpointslice.kubernetes.io/managed-by': managedBy };
  const { metadata, ...rest } = aSlice(name, { endpoints });
  return { kind: 'slice', name, uid: name, slice: { ...rest, metadata: { ...metadata, labels } } };
}

test('a Service whose slices show a ready endpoint has no problem', () => {
  expect(check(service(), pod('web-1'), slice('a'))).toEqual({});
});

test('without a ready endpoint, the Pods are counted by their state', () => {
  const pods = [
    pod('web-1', { ready: false }),
    pod('web-2', { ready: false }),
    pod('web-3', { terminating: true }),
    pod('web-4', { terminal: true }),
    pod('web-5'),
  ];
  const message = '5 Pods: 1 ready, 2 not ready, 1 terminating, 1 terminated';
  expect(check(service(), ...pods, slice('a', { ready: false }))).toEqual({ NoReadyEndpoints: message });
});

test('a selector that matches no Pod is named, with Pods whose labels resemble it', () => {
  const selector = { app: 'web', tier: 'front' };
  expect(check(service({ selector }))).toEqual({ NoMatchingPods: 'no Pod matches app=web,tier=front' });
  const similarPods = { label: 'app=wbe', pods: 3 };
  expect(check({ kind: 'service', service: aService({ selector: { app: 'web' } }), similarPods })).toEqual({
    NoMatchingPods: 'no Pod matches app=web; 3 Pods have app=wbe',
  });
});

test('a port is unresolved if no running Pod names it', () => {
  const [port] = aService().ports;
  if (port === undefined) throw new Error('the fixture has a port');
  const ports = [
    { ...port, name: 'http', targetPort: 'web' },
    { ...port, name: 'admin', port: 81, targetPort: 9_090 },
  ];
  const named = { ports: [{ name: 'web', protocol: port.protocol, containerPort: 8_080 }] };
  expect(check(service({ ports }), pod('web-1', named), pod('web-2'), slice('a'))).toEqual({});
  const unresolved = { UnresolvedPort: 'no Pod has the container port of port http (web)' };
  expect(check(service({ ports }), pod('web-1', { ...named, terminal: true }), pod('web-2'), slice('a'))).toEqual(
    unresolved,
  );
  expect(check(service({ ports }), slice('a'))).toEqual({});
});

test('hints that a Service asks for are missing only while it has ready endpoints', () => {
  const auto = service({ annotations: { 'service.kubernetes.io/topology-mode': 'Auto' } });
  const problem = { NoTopologyHints: 'the Service asks for topology hints, and no endpoint has any' };
  expect(check(auto, pod('web-1'), slice('a'))).toEqual(problem);
  expect(check(auto, pod('web-1'), slice('a', { zone: 'a' }))).toEqual({});
  expect(check(auto, pod('web-1', { ready: false }), slice('a', { ready: false }))).not.toHaveProperty(
    'NoTopologyHints',
  );
});

test('a Pod in two slices with the same ports is duplicate', () => {
  const both = { pods: ['web-1', 'web-2'] };
  expect(check(service(), pod('web-1'), slice('a', both), slice('b', { pods: ['web-2'] }))).toEqual({
    DuplicateEndpoints: 'Pod web-2 is in several EndpointSlices',
  });
  const foreign = slice('b', { ...both, managedBy: 'another-controller' });
  expect(check(service(), pod('web-1'), slice('a', both), foreign)).toEqual({});
});

test('more than twice as many slices as needed are fragmented', () => {
  const slices = (count: number) => Array.from({ length: count }, (_, i) => slice(`s${i}`, { pods: [`web-${i}`] }));
  expect(check(service(), pod('web-1'), ...slices(2))).toEqual({});
  expect(check(service(), pod('web-1'), ...slices(3))).toEqual({
    FragmentedSlices: '3 EndpointSlices for 3 endpoints',
  });
});

test('slices that the controllers leave behind are orphaned', () => {
  expect(check(slice('a'))).toEqual({ OrphanedSlices: 'EndpointSlice a remains, although the Service does not exist' });
  const text = '2 EndpointSlices remain, although the Service has no selector';
  expect(check(service({ selector: null }), slice('a'), slice('b'))).toEqual({ OrphanedSlices: text });
  expect(check(service({ type: 'ExternalName' }), slice('a'))).toHaveProperty('OrphanedSlices');
  expect(check(service({ type: 'ExternalName' }))).toEqual({});
  expect(check(service({ deleting: true }), slice('a', { ready: false }))).toEqual({});
});

test('mirrored slices are stale if the mirroring controller would change them', () => {
  const managedBy = 'endpointslicemirroring-controller.k8s.io';
  const stale = { StaleMirror: 'the mirrored EndpointSlices differ from the Endpoints' };
  expect(check(service({ selector: null }), slice('a', { managedBy }))).toEqual(stale);
  const custom = slice('a', { managedBy: 'me' });
  expect(check(service({ selector: null }), custom)).toEqual({});
  const ports = [{ name: '', protocol: 'TCP', port: 80 }];
  const endpoints: Fact = {
    kind: 'endpoints',
    uid: 'e',
    endpoints: someEndpoints({ subsets: [{ addresses: [{ ip: '10.0.0.1' }], ports }] }),
  };
  expect(check(service({ selector: null }), custom, endpoints)).toEqual(stale);
});
