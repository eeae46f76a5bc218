import type { EndpointSlice, Endpoints, Pod, PodOnNode, Service, ServicePort } from '../objects.ts';
import { endpointSliceController, managedByLabel, serviceNameLabel } from '../well-known.ts';

/** Builders for API objects: a test states what matters, the rest has defaults. */

export const httpPort: ServicePort = { name: 'http', protocol: 'TCP', port: 80, targetPort: 8080, appProtocol: null };

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
    ports: [httpPort],
    publishNotReadyAddresses: false,
    trafficDistribution: null,
    ...given,
  };
}

/** A ready Pod. */
export function aPodNamed(name: string, given: Partial<Pod> = {}): Pod {
  return {
    namespace: 'shop',
    name,
    uid: `uid-${name}`,
    ip: '10.1.0.1',
    ips: ['10.1.0.1'],
    nodeName: 'node-a',
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

/** Pod number `i`, ready, with its own IPv4 address. */
export function aPod(i: number, given: Partial<Pod> = {}): Pod {
  const ip = `10.0.${i >> 8}.${i & 255}`;
  return aPodNamed(`web-${i}`, { uid: `pod-uid-${i}`, ip, ips: [ip], ...given });
}

export function onNode(pod: Pod, zone = 'a'): PodOnNode {
  return { pod, node: { zone } };
}

export function pods(count: number, given: Partial<Pod> = {}): PodOnNode[] {
  return Array.from({ length: count }, (_, i) => onNode(aPod(i, given)));
}

/** A slice of {@link aService} as this controller writes it, empty by default. */
export function aSlice(name: string, given: Partial<EndpointSlice> = {}): EndpointSlice {
  return {
    addressType: 'IPv4',
    endpoints: [],
    ports: [{ name: 'http', protocol: 'TCP', port: 8080 }],
    ...given,
    metadata: {
      name,
      namespace: 'shop',
      uid: `uid-${name}`,
      resourceVersion: '7',
      labels: { [serviceNameLabel]: 'web', [managedByLabel]: endpointSliceController },
      ownerReferences: [
        {
          apiVersion: 'v1',
          kind: 'Service',
          name: 'web',
          uid: 'service-uid',
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
      ...given.metadata,
    },
  };
}

export function someEndpoints(given: Partial<Endpoints> = {}): Endpoints {
  return {
    subsets: [],
    ...given,
    metadata: { name: 'web', namespace: 'shop', uid: 'endpoints-uid', resourceVersion: '3', ...given.metadata },
  };
}
