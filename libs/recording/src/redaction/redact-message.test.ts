import { type Change, decodeMessage, encodeMessage, type Outcome, type PlannedMutations } from '@sluice/messages';
import {
  type EndpointSlice,
  type Endpoints,
  endpointSliceController,
  managedByLabel,
  type Pod,
  serviceNameLabel,
  topologyModeAnnotation,
} from '@sluice/model';
import { aPodNamed, aService, aSlice, someEndpoints } from '@sluice/model/testing';
import { expect, test } from 'vitest';
import { Pseudonyms } from './pseudonyms.ts';
import { redactMessage } from './redact-message.ts';

/** Everything that comes from a cluster contains `secret` or one of these addresses. */
const [four, six] = ['203.0.113.7', '2001:db8::7'];
const sensitive = /secret|203\.0\.113|2001:db8/i;

const key = { cluster: 'secret-cluster', namespace: 'secret-ns', service: 'secret-web' };
const causes = {
  first: [{ description: 'Pod secret-ns/secret-pod became ready', observedAt: 1 }],
  more: 2,
  traces: [`00-${'a'.repeat(32)}-${'b'.repeat(16)}-01 vendor=secret`],
};
const metadata = {
  ...{ name: 'secret-slice', namespace: 'secret-ns', uid: 'secret-uid', resourceVersion: '7', generation: 3 },
  ...{ generateName: 'secret-web-', creationTimestamp: '2026-01-01T00:00:00Z', finalizers: ['secret.io/keep'] },
  labels: { [serviceNameLabel]: 'secret-web', [managedByLabel]: endpointSliceController, 'secret.io/team': 'secret-a' },
  annotations: { [topologyModeAnnotation]: 'secret-mode', 'secret.io/note': 'a secret note' },
  ownerReferences: [{ apiVersion: 'secret.io/v1', kind: 'SecretKind', name: 'secret-web', uid: 'secret-service-uid' }],
};
const pod: Pod = aPodNamed('secret-pod', {
  ...{ namespace: 'secret-ns', uid: 'secret-pod-uid', ip: four, ips: [four, six], nodeName: 'secret-node' },
  ...{ hostname: 'secret-host', subdomain: 'secret-web', ready: false },
  ports: [{ name: 'secret-port', protocol: 'TCP', containerPort: 80 }],
  unready: { status: 'False', reason: 'ContainersNotReady', message: 'containers with secret image' },
  details: {
    ...{ owner: 'ReplicaSet secret-rs', disruption: 'EvictionByEvictionAPI', gracePeriodSeconds: 30 },
    preStop: ['sleep 5 s', 'exec', ''],
    containers: ['secret-app: waiting (CrashLoopBackOff), 3 restarts, last exit code 137 (OOMKilled)'],
  },
});
const slice: EndpointSlice = {
  ...{ metadata, addressType: 'IPv4', ports: [{ name: 'secret-port', protocol: 'TCP', port: 80 }] },
  endpoints: [
    {
      ...{ addresses: [four], conditions: { ready: true }, hostname: 'secret-host', nodeName: 'secret-node' },
      ...{ zone: 'secret-zone', hints: { forZones: [{ name: 'secret-zone' }], forNodes: [{ name: 'secret-node' }] } },
      targetRef: { kind: 'Pod', namespace: 'secret-ns', name: 'secret-pod', uid: 'secret-pod-uid' },
      deprecatedTopology: { 'secret.io/rack': 'secret-rack' },
    },
  ],
};
const future = { ...slice, secretField: { secret: 'secret' }, status: { addresses: ['secret'] } };
const endpoints: Endpoints = {
  metadata,
  subsets: [
    {
      addresses: [{ ip: four, hostname: 'secret-host', nodeName: 'secret-node', targetRef: { name: 'secret-pod' } }],
      notReadyAddresses: [{ ip: six }],
      ports: [{ name: 'secret-port', port: 80, appProtocol: 'secret.io/proto' }],
    },
  ],
};

const change: Change = {
  ...{ kind: 'change', key, stamp: { epoch: 1, sequence: 2 }, causes, unpublishable: 'secret is too large' },
  facts: [
    {
      kind: 'service',
      service: aService({
        ...{ namespace: 'secret-ns', name: 'secret-web', uid: 'secret-service-uid', clusterIP: '203.0.113.1' },
        ...{ labels: { 'secret.io/team': 'secret-a' }, selector: { 'secret-app': 'secret-web' } },
        ports: [{ name: 'secret-p', protocol: 'TCP', port: 80, targetPort: 'secret-port', appProtocol: null }],
      }),
      similarPods: { label: 'secret-app=secret-wbe', pods: 2 },
    },
    {
      ...{ kind: 'pod', name: 'secret-pod', pod },
      node: { zone: 'secret-zone', condition: 'not ready (NodeStatusUnknown), taint secret.io/gpu:NoExecute' },
    },
    { kind: 'slice', name: 'secret-slice', slice: future, uid: 'secret-uid', manager: 'secret-operator' },
    { kind: 'slice', name: 'secret-other', slice: null, uid: 'secret-u', relabelled: true, labelledFor: 'secret-api' },
    { kind: 'endpoints', endpoints, uid: 'secret-uid', manager: 'kube-controller-manager' },
    {
      ...{ kind: 'topology', hintedServices: 3 },
      topology: { zoneRatios: { 'secret-zone': 0.5, '': 0.5 }, nodesByZone: { 'secret-zone': 2 } },
    },
  ],
  resourceVersions: { endpoints: '8', endpointslices: '9' },
  digest: { version: 2, service: 'secret-hash', pods: '', topology: '', endpoints: [], slices: [] },
};

test('a Change keeps its form and what the controllers read', () => {
  const redacted = redactMessage(change, new Pseudonyms());
  expect(decodeMessage(encodeMessage(redacted))).toMatchObject(redacted);
  expect(JSON.stringify(redacted)).not.toMatch(sensitive);
  const { digest: _, ...rest } = redacted;
  expect(rest).toMatchSnapshot();
});

const plan: PlannedMutations = {
  ...{ kind: 'mutations', key, controller: 'endpointslice', plan: { epoch: 1, number: 9 }, causes, decidedAt: 5 },
  groups: [
    {
      mutations: [
        { verb: 'create', resource: 'endpointslices', object: slice },
        { verb: 'update', resource: 'endpoints', object: endpoints },
        { verb: 'delete', resource: 'endpointslices', name: 'secret-slice', uid: 'secret-uid', resourceVersion: '4' },
      ],
    },
  ],
  events: [
    {
      ...{ type: 'Warning', reason: 'FailedToUpdate', message: 'secret' },
      regarding: { kind: 'Service', namespace: 'secret-ns', name: 'secret-web' },
    },
  ],
  ...{ incomplete: ['Node secret-node is missing'], serviceUid: 'secret-service-uid' },
  ready: {
    ...{ delta: -3, total: 40 },
    evidence: [
      { kind: 'pod', name: 'secret-pod', uid: 'secret-pod-uid' },
      { kind: 'node', name: 'secret-node' },
    ],
    added: { count: 1, evidence: [{ kind: 'pod', name: 'secret-pod', uid: 'secret-pod-uid', address: six }] },
  },
  basis: {
    stamp: { epoch: 1, sequence: 2 },
    inFlight: [],
    settings: { controllers: ['endpointslice'], batchPeriodMs: { endpointslice: 500 } },
  },
};
const outcome: Outcome = {
  ...{ kind: 'outcome', key, controller: 'endpointslice', plan: { epoch: 1, number: 9 }, status: 'conflict', causes },
  ...{ message: 'endpointslices "secret-slice" was modified', decidedAt: 5, completedAt: 6, retries: 0 },
  results: [
    {
      ...{ group: 0, index: 0, verb: 'update', resource: 'endpointslices', name: 'secret-slice', status: 'failed' },
      ...{ current: slice, error: 'secret' },
      stored: { uid: 'secret-uid', resourceVersion: '9', generation: 1 },
    },
  ],
};

test.each([plan, outcome])('a message of kind $kind keeps its fields', (message) => {
  const redacted = redactMessage(message, new Pseudonyms());
  expect(decodeMessage(encodeMessage(redacted))).toMatchObject(redacted);
  expect(JSON.stringify(redacted)).not.toMatch(sensitive);
  expect(withoutTexts(redacted)).toEqual(withoutTexts(message));
});

const withoutTexts = (message: object): unknown =>
  JSON.parse(JSON.stringify(message, (field, value) => maps[field] ?? (typeof value === 'string' ? '' : value)));
const maps: Readonly<Record<string, string>> = { labels: '', annotations: '', deprecatedTopology: '' };

test('equal names have equal pseudonyms in every message and place', () => {
  const to = new Pseudonyms();
  const [first, second] = [redactMessage(change, to), redactMessage(plan, to)];
  expect(second.key).toEqual(first.key);
  const selected = first.facts.find((fact) => fact.kind === 'slice')?.slice;
  expect(selected?.metadata.labels?.[serviceNameLabel]).toBe(first.key.service);
  expect(selected?.endpoints?.[0]?.targetRef?.name).toBe(
    first.facts.flatMap((fact) => (fact.kind === 'pod' ? fact.name : [])).at(0),
  );
  const other = { ...change, facts: [{ kind: 'slice', name: 'a', slice: aSlice('a'), uid: '' }] } as const;
  expect(redactMessage(other, to).facts[0]).toMatchObject({ name: 'endpointslice-3' });
  const old = { ...change, facts: [{ kind: 'endpoints', endpoints: someEndpoints(), uid: '' }] } as const;
  expect(redactMessage(old, to).facts[0]).toMatchObject({ endpoints: { subsets: [] } });
});
