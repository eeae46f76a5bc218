import type { EndpointSlice, Endpoints, Node, Pod, Service, StringMap } from '@sluice/controllers';
import type { WatchedPod } from '../inventory.ts';

/** Projections for tests: what matters is given, the rest is ordinary. */

export function aService(name: string, given: Partial<Service> = {}): Service {
  return {
    namespace: 'shop',
    name,
    uid: `uid-${name}`,
    creationTimestamp: '2026-01-01T00:00:00Z',
    deleting: false,
    labels: {},
    annotations: {},
    type: 'ClusterIP',
    selector: { app: name },
    clusterIP: '10.96.0.1',
    ipFamilies: ['IPv4'],
    ports: [],
    publishNotReadyAddresses: false,
    trafficDistribution: null,
    ...given,
  };
}

export const asksForHints = { 'service.kubernetes.io/topology-mode': 'Auto' };

export function aPod(name: string, labels: StringMap, given: Partial<Pod> = {}): WatchedPod {
  const pod: Pod = {
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
    readyTransitionTime: null,
    ports: [],
    ...given,
  };
  return { pod, labels };
}

export function aNode(name: string, zone: string, given: Partial<Node> = {}): Node {
  return { name, zone, ready: true, controlPlane: false, allocatableMilliCpu: 4000, ...given };
}

export function aSlice(name: string, service: string, given: { uid?: string; manager?: string } = {}): EndpointSlice {
  const { uid = `uid-${name}`, manager = 'endpointslice-controller.k8s.io' } = given;
  const labels = { 'kubernetes.io/service-name': service, 'endpointslice.kubernetes.io/managed-by': manager };
  return { metadata: { name, namespace: 'shop', uid, resourceVersion: '5', labels }, addressType: 'IPv4' };
}

export function someEndpoints(name: string, uid = `uid-${name}`): Endpoints {
  return { metadata: { name, namespace: 'shop', uid, resourceVersion: '5' }, subsets: [] };
}
