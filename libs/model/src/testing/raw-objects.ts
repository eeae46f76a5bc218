/** API objects as parsed JSON, with every field that the projections read. */

import { MalformedObjectError } from '../projections/fields.ts';

const metadata = {
  namespace: 'shop',
  name: 'web',
  uid: 'uid',
  resourceVersion: '7',
  generation: 3,
  generateName: 'web-',
  creationTimestamp: '2026-01-01T00:00:00Z',
  deletionTimestamp: '2026-01-02T00:00:00Z',
  labels: { app: 'web' },
  annotations: { note: 'x' },
  ownerReferences: [{ apiVersion: 'v1', kind: 'Service', name: 'web', uid: 'service-uid', controller: true }],
  finalizers: ['example.com/keep'],
};

export const rawService = {
  metadata: {
    namespace: 'shop',
    name: 'web',
    uid: 'service-uid',
    creationTimestamp: '2026-01-01T00:00:00Z',
    deletionTimestamp: '2026-01-02T00:00:00Z',
    labels: { app: 'web' },
    annotations: {
      'service.kubernetes.io/topology-aware-hints': 'Disabled',
      'service.kubernetes.io/topology-mode': 'Auto',
      note: 'x',
    },
  },
  spec: {
    type: 'ClusterIP',
    selector: { tier: 'front' },
    clusterIP: '10.96.0.1',
    ipFamilies: ['IPv4'],
    ports: [{ name: 'http', protocol: 'TCP', port: 80, targetPort: 8080, appProtocol: 'h2c' }],
    publishNotReadyAddresses: true,
    trafficDistribution: 'PreferClose',
    internalTrafficPolicy: 'Local',
    externalTrafficPolicy: 'Local',
  },
};

export const rawPod = {
  metadata: {
    namespace: 'shop',
    name: 'web-0',
    uid: 'pod-uid',
    deletionTimestamp: '2026-01-02T00:00:00Z',
    labels: { app: 'web' },
  },
  spec: {
    nodeName: 'node-a',
    hostname: 'zero',
    subdomain: 'web',
    containers: [{ ports: [{ name: 'http', protocol: 'TCP', containerPort: 8080 }] }],
    initContainers: [
      { restartPolicy: 'Always', ports: [{ name: 'dns', protocol: 'UDP', containerPort: 53 }] },
      { ports: [{ name: 'once', protocol: 'TCP', containerPort: 1 }] },
    ],
  },
  status: {
    phase: 'Running',
    podIP: '10.0.0.1',
    podIPs: [{ ip: '10.0.0.1' }, { ip: 'fd00::1' }],
    conditions: [
      { type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:01:00Z' },
      { type: 'PodScheduled', status: 'False', lastTransitionTime: '2026-01-01T00:00:01Z' },
    ],
  },
};

export const rawNode = {
  metadata: { name: 'node-a', labels: { 'topology.kubernetes.io/zone': 'a', os: 'linux' } },
  status: { allocatable: { cpu: '3500m' }, conditions: [{ type: 'Ready', status: 'True' }] },
};

const targetRef = {
  ...{ kind: 'Pod', namespace: 'shop', name: 'web-0', uid: 'pod-uid' },
  ...{ apiVersion: 'v1', resourceVersion: '5', fieldPath: 'spec' },
};

export const rawEndpoints = {
  metadata,
  subsets: [
    {
      addresses: [{ ip: '10.0.0.1', hostname: 'zero', nodeName: 'node-a', targetRef }],
      notReadyAddresses: [{ ip: '10.0.0.2', hostname: 'one', nodeName: 'node-b', targetRef }],
      ports: [{ name: 'http', protocol: 'TCP', port: 8080, appProtocol: 'h2c' }],
    },
  ],
};

export const rawSlice = {
  metadata,
  addressType: 'IPv4',
  endpoints: [
    {
      addresses: ['10.0.0.1'],
      conditions: { ready: true, serving: true, terminating: false },
      hostname: 'zero',
      nodeName: 'node-a',
      zone: 'a',
      targetRef,
      deprecatedTopology: { region: 'r' },
      hints: { forZones: [{ name: 'a' }], forNodes: [{ name: 'node-a' }] },
    },
  ],
  ports: [{ name: 'http', protocol: 'TCP', port: 8080, appProtocol: 'h2c' }],
};

type Fields = Record<string, unknown>;

/** A copy of the object with another value of one field, such as `spec.ports[0].port`, or without it if undefined. */
export function withValueAt(object: object, path: string, value: unknown): unknown {
  const copy = JSON.parse(JSON.stringify(object)) as Fields;
  const keys = path.split(/[.[\]"]+/).filter((key) => key !== '');
  const last = keys.pop() ?? '';
  const parent = keys.reduce((at, key) => at[key] as Fields, copy);
  if (value === undefined) delete parent[last];
  else parent[last] = value;
  return copy;
}

/** What is wrong with the object that `run` projects. Throws if nothing is. */
export function malformation(run: () => unknown): Partial<MalformedObjectError> {
  try {
    run();
  } catch (error) {
    if (error instanceof MalformedObjectError) {
      const { code, kind, namespace, objectName, path, expected } = error;
      return { code, kind, namespace, objectName, path, expected };
    }
    throw error;
  }
  throw new Error('nothing was thrown');
}
