import type { AddressType, Endpoint, EndpointPort, Pod, PodOnNode, Service } from '@sluice/model';
import { shouldPodBeInEndpoints } from '../pods/endpoint-eligibility.ts';
import { findPort } from '../pods/find-port.ts';
import { withSortedAddresses } from './endpoint-identity.ts';
import { EndpointSet } from './endpoint-set.ts';
import { endpointPorts, podToEndpoint } from './pod-to-endpoint.ts';
import { portMapKey } from './port-map-key.ts';

/** Endpoints that share their ports. */
export interface PortGroup {
  readonly ports: readonly EndpointPort[];
  readonly endpoints: EndpointSet;
}

export interface DesiredEndpoints {
  /** Keyed by port-map key. A group may have no endpoints (E15). */
  readonly groups: ReadonlyMap<string, PortGroup>;
  /** Reasons why Pods were skipped. */
  readonly skipped: readonly string[];
  /** All endpoints, keyed by Pod name. */
  readonly byPod: Map<string, Endpoint>;
}

/** Returns the endpoints that slices of one address type should contain (E15). */
export function desiredEndpoints(service: Service, pods: readonly PodOnNode[], type: AddressType): DesiredEndpoints {
  const groups = new Map<string, PortGroup>();
  const groupOf = groupFinder(service, groups);
  const skipped: string[] = [];
  const byPod = new Map<string, Endpoint>();
  for (const onNode of pods) {
    const { pod, node } = onNode;
    if (!shouldPodBeInEndpoints(pod, true)) continue;
    const group = groupOf(pod);
    if (node === null && !service.publishNotReadyAddresses) skipped.push(missingNode(pod, service));
    const endpoint = desiredEndpoint(service, onNode, type);
    if (endpoint === undefined) continue;
    group.endpoints.insert(endpoint);
    byPod.set(pod.name, endpoint);
  }
  return { groups, skipped, byPod };
}

/** Returns the endpoint of a Pod, or undefined if slices of this type should not contain it (E15). */
export function desiredEndpoint(service: Service, { pod, node }: PodOnNode, type: AddressType): Endpoint | undefined {
  if (!shouldPodBeInEndpoints(pod, true)) return undefined;
  if (node === null && !service.publishNotReadyAddresses) return undefined;
  const endpoint = withSortedAddresses(podToEndpoint(pod, node, service, type));
  return endpoint.addresses.length > 0 ? endpoint : undefined;
}

function missingNode(pod: Pod, service: Service): string {
  return `skipping Pod ${pod.name} for Service ${service.namespace}/${service.name}: Node ${pod.nodeName} Not Found`;
}

/**
 * Returns a function that finds the group of a Pod. Pods whose named ports resolve to the same numbers share a group,
 * which saves hashing.
 */
function groupFinder(service: Service, groups: Map<string, PortGroup>): (pod: Pod) => PortGroup {
  const byNumbers = new Map<string, PortGroup>();
  const named = service.ports.filter((port) => typeof port.targetPort === 'string');
  return (pod) => {
    let numbers = '';
    for (const port of named) numbers += `${findPort(pod, port) ?? ''} `;
    const known = byNumbers.get(numbers);
    if (known !== undefined) return known;
    const { key, ports } = portMapKey(endpointPorts(service, pod));
    const group = groups.get(key) ?? { ports, endpoints: new EndpointSet() };
    groups.set(key, group);
    byNumbers.set(numbers, group);
    return group;
  };
}
