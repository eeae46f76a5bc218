import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  Connection,
  HttpCluster,
  isApiError,
  loadKubeconfig,
  type RawObject,
  type Resource,
  watchedResources,
} from '@sluice/kubernetes';
import { type ControlPlane, kubectl, startControlPlane } from '@sluice/local';
import {
  type EndpointSlice,
  type Endpoints,
  projectEndpointSlice,
  projectEndpoints,
  projectNode,
  projectPod,
  projectService,
} from '@sluice/model';
import { seededRandom, silentLogger } from '@sluice/platform';
import { systemClock } from '@sluice/platform/process';
import { afterAll, beforeAll, expect, it } from 'vitest';

const root = mkdtempSync(path.join(tmpdir(), 'sluice-protobuf-'));
const noAbort = new AbortController().signal;
let plane: ControlPlane;
let connection: Connection;
let cluster: HttpCluster;
const skipped: unknown[] = [];

beforeAll(async () => {
  plane = await startControlPlane({
    directory: path.join(root, 'cluster'),
    name: 'protobuf',
    authorization: 'AlwaysAllow',
  });
  const access = await loadKubeconfig({ paths: [plane.adminKubeconfig] });
  connection = new Connection({ access, userAgent: 'sluice/test', clock: systemClock, logger: silentLogger });
  cluster = new HttpCluster({ connection, clock: systemClock, random: seededRandom(1) });
  await kubectl(plane.adminKubeconfig, ['create', '--validate=false', '-f', '-'], JSON.stringify(given));
  await kubectl(
    plane.adminKubeconfig,
    ['replace', '--raw', `${podPath}/status`, '-f', '-'],
    JSON.stringify(runningPod),
  );
});

afterAll(async () => {
  await connection?.destroy();
  await plane?.stop();
  rmSync(root, { recursive: true, force: true });
});

const projections: Readonly<Record<Resource, (object: RawObject) => unknown>> = {
  services: projectService,
  pods: projectPod,
  nodes: projectNode,
  endpoints: projectEndpoints,
  endpointslices: projectEndpointSlice,
};

it.each(watchedResources)('a watch of %s in protobuf returns the same as a list in JSON', async (resource) => {
  const project = projections[resource];
  const { items } = await cluster.list(resource, { limit: 500, continueToken: '' }, noAbort);
  expect(items.length).toBeGreaterThan(0);
  const stop = new AbortController();
  const onSkipped = (object: unknown) => void skipped.push(object);
  const received: unknown[] = [];
  let ended = '';
  for await (const batch of cluster.watch(resource, '', stop.signal, { sendInitialEvents: true, onSkipped })) {
    for (const event of batch) {
      if (event.type !== 'BOOKMARK') received.push(project(event.object));
      else if (event.initialEventsEnd) ended = event.resourceVersion;
    }
    if (ended !== '') stop.abort();
  }
  expect(received).toEqual(items.map(project));
  expect(skipped).toEqual([]);
});

it('decodes an error in protobuf', async () => {
  const watch = cluster.watch('pods', 'x', noAbort)[Symbol.asyncIterator]().next();
  const error: unknown = await watch.catch((reason: unknown) => reason);
  expect(isApiError(error)).toBe(true);
  expect(error).toMatchObject({ status: 500, message: expect.stringMatching(/resourceVersion: Invalid value: "x"/) });
});

const ownMeta = (name: string) => ({
  name,
  namespace: 'default',
  labels: { 'kubernetes.io/service-name': 'web', 'endpointslice.kubernetes.io/managed-by': 'someone', a: '' },
  annotations: { note: 'größer als ASCII, und mehr als vierundsechzig Zeichen lang, damit auch das stimmt' },
});

const slice = {
  metadata: ownMeta('written'),
  addressType: 'IPv4',
  endpoints: [
    {
      addresses: ['10.0.0.1', '10.0.0.2'],
      conditions: { ready: false, serving: true, terminating: true },
      hostname: 'h-1',
      nodeName: 'node-1',
      zone: 'zone-a',
      targetRef: { kind: 'Pod', namespace: 'default', name: 'p', uid: 'u-1' },
      hints: { forZones: [{ name: 'zone-a' }], forNodes: [{ name: 'node-1' }] },
      deprecatedTopology: { 'example.com/rack': 'r1' },
    },
    { addresses: ['10.0.0.3'], conditions: {} },
  ],
  ports: [
    { name: '', port: 80, protocol: 'TCP' },
    { name: 'dns', port: 53, protocol: 'UDP', appProtocol: 'example.com/dns' },
  ],
} as const;

it.each([
  ['all fields', slice],
  ['no endpoints and no ports', { ...slice, metadata: ownMeta('none'), endpoints: [], ports: [] }],
  ['null lists', { ...slice, metadata: ownMeta('nulls'), endpoints: null, ports: null }],
] as const)('stores a slice with %s as from JSON', async (_, object) => {
  await writeBoth('endpointslices', '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices', object);
});

it('stores Endpoints as from JSON', async () => {
  const address = {
    ip: '10.0.0.1',
    hostname: 'h',
    nodeName: 'node-1',
    targetRef: { kind: 'Pod', name: 'p', uid: 'u' },
  };
  const subsets = [
    {
      addresses: [address],
      notReadyAddresses: [{ ip: '10.0.0.2', nodeName: null, targetRef: null }],
      ports: [
        { name: 'y', port: 80, protocol: 'TCP' },
        { name: 'x', port: 81, protocol: 'SCTP', appProtocol: 'http' },
      ],
    },
  ];
  await writeBoth('endpoints', '/api/v1/namespaces/default/endpoints', { metadata: ownMeta('written'), subsets });
});

/** Creates and replaces the object in both encodings; only names, versions and times may differ. */
async function writeBoth(resource: 'endpoints' | 'endpointslices', path: string, object: object): Promise<void> {
  const { metadata } = object as EndpointSlice;
  const kind = resource === 'endpoints' ? 'Endpoints' : 'EndpointSlice';
  const apiVersion = resource === 'endpoints' ? 'v1' : 'discovery.k8s.io/v1';
  const plain = { ...object, apiVersion, kind, metadata: { ...metadata, name: `${metadata.name}-json` } };
  await connection.request({ method: 'POST', path, body: plain, signal: noAbort });
  await cluster.create(resource, object as EndpointSlice, noAbort);
  const expected = await stored(resource, plain.metadata.name);
  expect(await stored(resource, metadata.name)).toEqual(expected);

  const { metadata: now } = (await cluster.get(resource, 'default', metadata.name, noAbort)) as { metadata: object };
  const whole = { ...object, metadata: { ...now, labels: { ...metadata.labels, again: 'yes' } } };
  const { resourceVersion } = await cluster.update(resource, whole as unknown as EndpointSlice & Endpoints, noAbort);
  const after = await stored(resource, metadata.name);
  expect(after.metadata).toMatchObject({ labels: { ...metadata.labels, again: 'yes' } });
  expect({ ...after, metadata: {} }).toEqual({ ...expected, metadata: {} });
  expect(resourceVersion).not.toBe((now as { resourceVersion?: string }).resourceVersion);
}

async function stored(resource: Resource, name: string): Promise<RawObject> {
  const { metadata, ...rest } = await cluster.get(resource, 'default', name, noAbort);
  const { labels, annotations, namespace, ownerReferences, finalizers } = metadata as Record<string, unknown>;
  return { ...rest, metadata: { labels, annotations, namespace, ownerReferences, finalizers } };
}

const podPath = '/api/v1/namespaces/default/pods/p';
const pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p', namespace: 'default', labels: { app: 'web', empty: '' }, annotations: { a: 'b' } },
  spec: {
    nodeName: 'node-1',
    hostname: 'h-1',
    subdomain: 'sub',
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    containers: [
      {
        name: 'main',
        image: 'example.com/main:1',
        env: [{ name: 'X', value: 'ü' }],
        ports: [
          { name: 'http', containerPort: 8080 },
          { containerPort: 9000, protocol: 'UDP' },
        ],
      },
    ],
    initContainers: [
      {
        name: 'sidecar',
        image: 'example.com/sidecar:1',
        restartPolicy: 'Always',
        ports: [{ name: 'side', containerPort: 9090 }],
      },
    ],
  },
};
const runningPod = {
  ...pod,
  status: {
    phase: 'Running',
    podIP: '10.0.0.7',
    podIPs: [{ ip: '10.0.0.7' }, { ip: 'fd00::7' }],
    conditions: [
      { type: 'PodScheduled', status: 'True', lastTransitionTime: '2024-02-03T04:05:06Z' },
      { type: 'Ready', status: 'True', lastTransitionTime: '2024-02-03T04:05:07Z' },
    ],
  },
};

const given = {
  apiVersion: 'v1',
  kind: 'List',
  items: [
    {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: 'node-1', labels: { 'topology.kubernetes.io/zone': 'zone-a' } },
      status: {
        allocatable: { cpu: '3900m', memory: '7Gi' },
        conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: '2024-02-03T04:05:06Z' }],
      },
    },
    pod,
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: {
        name: 'web',
        namespace: 'default',
        labels: { l: 'v' },
        annotations: { 'service.kubernetes.io/topology-mode': 'Auto', other: 'x' },
      },
      spec: {
        selector: { app: 'web', empty: '' },
        publishNotReadyAddresses: true,
        trafficDistribution: 'PreferClose',
        internalTrafficPolicy: 'Local',
        ports: [
          { name: 'http', port: 80, targetPort: 'http', appProtocol: 'http' },
          { name: 'udp', port: 53, protocol: 'UDP', targetPort: 5353 },
        ],
      },
    },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'headless', namespace: 'default' },
      spec: { clusterIP: 'None', ports: [{ port: 80 }] },
    },
    {
      apiVersion: 'v1',
      kind: 'Endpoints',
      metadata: { name: 'custom', namespace: 'default' },
      subsets: [{ addresses: [{ ip: '10.0.0.9' }], ports: [{ port: 80 }] }],
    },
    { apiVersion: 'v1', kind: 'Endpoints', metadata: { name: 'empty', namespace: 'default' } },
    {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { name: 'custom', namespace: 'default', finalizers: ['example.com/keep'] },
      addressType: 'FQDN',
      endpoints: [{ addresses: ['example.com'], deprecatedTopology: { 'example.com/rack': 'r1' } }],
      ports: [{ port: 443, name: 'https' }],
    },
    {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { name: 'empty', namespace: 'default' },
      addressType: 'IPv6',
      endpoints: [],
    },
  ],
};
