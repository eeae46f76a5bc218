/** Projections for tests: what matters is given, the rest is ordinary. */

import type { RawObject } from '@sluice/kubernetes';
import type { EndpointSlice, Endpoints, Node, Pod, Service, StringMap } from '@sluice/model';
import { aPodNamed, aService as ordinaryService } from '@sluice/model/testing';
import type { WatchedPod } from '../watched-objects.ts';

export function aService(name: string, given: Partial<Service> = {}): Service {
  return ordinaryService({ name, uid: `uid-${name}`, selector: { app: name }, ports: [], ...given });
}

export const asksForHints = { 'service.kubernetes.io/topology-mode': 'Auto' };

export function aPod(name: string, labels: StringMap, given: Partial<Pod> = {}): WatchedPod {
  return { pod: aPodNamed(name, { nodeName: 'n1', readyTransitionTime: null, ...given }), labels };
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
