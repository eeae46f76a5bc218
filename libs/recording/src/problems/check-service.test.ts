import type { Fact } from '@sluice/messages';
import { aPodNamed, aService, aSlice, someEndpoints } from '@sluice/model/testing';
import { defaultSettings, evolve, initialState } from '@sluice/service-state';
import { expect, test } from 'vitest';
import { checkService } from './check-service.ts';
import type { ServicePast } from './service-pasts.ts';

const key = { cluster: 'c', namespace: 'shop', service: 'web' };
const resourceVersions = { endpoints: '1', endpointslices: '1' };

/** The problems of a Service about which a watcher publishes these facts. */
const check = (...facts: readonly Fact[]) => checkAfter(undefined, ...facts);

/** The same, of a Service with this past. */
function checkAfter(past: ServicePast | undefined, ...facts: readonly Fact[]) {
  const state = initialState(key);
  const snapshot = { first: true, last: true, initial: true, resourceVersions };
  const stamp = { epoch: 1, sequence: 1 };
  const causes = { first: [], more: 0 };
  evolve(state, { kind: 'change', key, stamp, facts, causes, resourceVersions, snapshot }, 0, defaultSettings);
  const service = facts.find((one) => one.kind === 'service');
  return checkService(state, { similar: service?.similarPods, past });
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
  readonly generation?: number;
}

function slice(
  name: string,
  { pods = ['web-1'], ready = true, zone, managedBy = 'endpointslice-controller.k8s.io', generation = 1 }: Shown = {},
): Fact {
  const endpoints = pods.map((one) => ({
    addresses: aPodNamed(one).ips,
    conditions: { ready, serving: ready, terminating: false },
    targetRef: { kind: 'Pod', name: one },
    ...(zone !== undefined && { hints: { forZones: [{ name: zone }] } }),
  }));
  const labels = { 'kubernetes.io/service-name': 'web', 'endpointslice.kubernetes.io/managed-by': managedBy };
  const { metadata, ...rest } = aSlice(name, { endpoints });
  return { kind: 'slice', name, uid: name, slice: { ...rest, metadata: { ...metadata, labels, generation } } };
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

test('a Service without Pods has lost them because its workload was scaled to zero, unless the last one was evicted', () => {
  const empty = [service(), slice('a', { pods: [] })];
  const text = 'no Pod matches app=web';
  expect(checkAfter({ pods: true, hasServed: true }, ...empty)).toEqual({ ScaledToZero: text });
  expect(checkAfter({ pods: 'evicted', hasServed: true }, ...empty)).toEqual({ NoMatchingPods: text });
  expect(checkAfter({ pods: false, hasServed: true }, ...empty)).toEqual({ NoMatchingPods: text });
});

test('if the recording does not know whether there were Pods, a slice that was written again shows it', () => {
  const unknown = { pods: undefined, hasServed: true };
  const written = slice('a', { pods: [], generation: 2 });
  expect(checkAfter(unknown, service(), written)).toHaveProperty('ScaledToZero');
  expect(checkAfter(unknown, service(), slice('a', { pods: [] }))).toHaveProperty('NoMatchingPods');
  const similarPods = { label: 'app=wbe', pods: 3 };
  const similar: Fact = { kind: 'service', service: aService(), similarPods };
  expect(checkAfter(unknown, similar, written)).toHaveProperty('NoMatchingPods');
});

test('Pods of a Job that is done are not missing; others that have ended are', () => {
  const details = { owner: 'Job report-1', disruption: '', gracePeriodSeconds: 30, preStop: [], containers: [] };
  const done = pod('report-1', { terminal: true, details });
  const failed = pod('web-1', { terminal: true, details: { ...details, owner: 'ReplicaSet web-1' } });
  expect(check(service(), done)).toEqual({ ScaledToZero: '1 Pod: 1 terminated' });
  expect(check(service(), failed)).toEqual({ NoReadyEndpoints: '1 Pod: 1 terminated' });
  expect(check(service(), done, failed)).toHaveProperty('NoReadyEndpoints');
});

test('Pods that have never been ready have not started', () => {
  const starting = [service(), pod('web-1', { ready: false }), slice('a', { ready: false })];
  expect(checkAfter({ pods: true, hasServed: false }, ...starting)).toEqual({ NotStarted: '1 Pod: 1 not ready' });
  expect(checkAfter({ pods: true, hasServed: true }, ...starting)).toEqual({ NoReadyEndpoints: '1 Pod: 1 not ready' });
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
