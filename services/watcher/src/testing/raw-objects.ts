import type { RawObject } from '@sluice/kubernetes';

/** Objects as an API server sends them. */

const meta = (name: string, resourceVersion: string, more: object = {}) => ({
  name,
  namespace: 'shop',
  uid: `uid-${name}`,
  resourceVersion,
  ...more,
});

export const rawService = (name: string, resourceVersion = '1'): RawObject => ({
  metadata: meta(name, resourceVersion),
  spec: { selector: { app: name }, ports: [{ port: 80, protocol: 'TCP' }], clusterIP: '10.96.0.1' },
});

export const rawPod = (name: string, resourceVersion = '1', ready = true): RawObject => ({
  metadata: meta(name, resourceVersion, { labels: { app: name.split('-')[0] } }),
  spec: { nodeName: 'n1', containers: [] },
  status: {
    phase: 'Running',
    podIP: '10.1.0.1',
    podIPs: [{ ip: '10.1.0.1' }],
    conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }],
  },
});

export const rawSlice = (name: string, service: string, resourceVersion = '1'): RawObject => ({
  metadata: meta(name, resourceVersion, {
    labels: {
      'kubernetes.io/service-name': service,
      'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
    },
  }),
  addressType: 'IPv4',
  endpoints: [],
});

export const rawEndpoints = (name: string, resourceVersion = '1'): RawObject => ({
  metadata: meta(name, resourceVersion),
  subsets: [],
});

export const malformedPod = (name: string, resourceVersion = '1'): RawObject => ({
  ...rawPod(name, resourceVersion),
  status: { podIPs: 'none' },
});
