import type { EndpointSlice, Endpoints, Node, Pod, Service, StringMap } from '@sluice/model';
import { aPodNamed, aService as ordinaryService } from '@sluice/model/testing';
import type { WatchedPod } from '../object-event.ts';

/** Projections for tests: what matters is given, the rest is ordinary. */

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
