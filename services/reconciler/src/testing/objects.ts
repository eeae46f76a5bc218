import type { EndpointSlice, Endpoints, Pod, Service, StringMap } from '@sluice/controllers';

/** Objects for tests, all of the Service shop/web: what matters is given, the rest is ordinary. */

export function aService(given: Partial<Service> = {}): Service {
  return {
    namespace: 'shop',
    name: 'web',
    uid: 'service-uid',
    creationTimestamp: '2026-01-01T00:00:00Z',
    deleting: false,
    labels: {},
    annotations: {},
    type: 'ClusterIP',
    selector: { app: 'web' },
    clusterIP: '10.96.0.1',
    ipFamilies: ['IPv4'],
    ports: [{ name: 'http', protocol: 'TCP', port: 80, targetPort: 8080, appProtocol: null }],
    publishNotReadyAddresses: false,
    trafficDistribution: null,
    ...given,
  };
}

export function aPod(name: string, given: Partial<Pod> = {}): Pod {
  return {
    namespace: 'shop',
    name,
    uid: `uid-${name}`,
    ip: '10.1.0.1',
    ips: ['10.1.0.1'],
    nodeName: 'n1',
    hostname: '',
    subdomain: '',
    terminal: false,
    terminating: false,
    ready: true,
    readyTransitionTime: '2026-01-01T00:01:00Z',
    ports: [],
    ...given,
  };
}

interface GivenMeta {
  readonly uid?: string;
  readonly version?: number;
  readonly labels?: StringMap;
  readonly annotations?: StringMap;
}

export const mirroring = 'endpointslicemirroring-controller.k8s.io';

export function aSlice(name: string, given: GivenMeta & { readonly manager?: string } = {}): EndpointSlice {
  const { uid = `uid-${name}`, version = 5, manager = 'endpointslice-controller.k8s.io' } = given;
  const labels = { 'kubernetes.io/service-name': 'web', 'endpointslice.kubernetes.io/managed-by': manager };
  const ownerReferences = [{ apiVersion: 'v1', kind: 'Service', name: 'web', uid: 'service-uid' }];
  return {
    metadata: { name, namespace: 'shop', uid, resourceVersion: `${version}`, generation: 1, labels, ownerReferences },
    addressType: 'IPv4',
    endpoints: [],
    ports: [],
  };
}

export function someEndpoints({ uid = 'endpoints-uid', version = 5, ...meta }: GivenMeta = {}): Endpoints {
  return { metadata: { name: 'web', namespace: 'shop', uid, resourceVersion: `${version}`, ...meta }, subsets: [] };
}
