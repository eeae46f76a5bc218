import {
  type AddressType,
  type Endpoint,
  type EndpointConditions,
  type EndpointPort,
  type NodePlacement,
  normaliseIp,
  type Pod,
  type PodOnNode,
  type Service,
} from '@sluice/model';
import { endpointHostname, findPort, shouldPodBeInEndpoints } from '../pods.ts';
import { EndpointSet, portMapKey, withSortedAddresses } from './endpoint-identity.ts';

/** Endpoints that share their ports. */
export interface PortGroup {
  readonly ports: readonly EndpointPort[];
  readonly endpoints: EndpointSet;
}

interface DesiredEndpoints {
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

/**
 * Returns the endpoint of a Pod in slices of one address type (E17). `addresses` is empty if the Pod has none of that
 * type.
 */
export function podToEndpoint(pod: Pod, node: NodePlacement | null, service: Service, type: AddressType): Endpoint {
  const serving = pod.ready;
  const terminating = pod.terminating;
  const hostname = endpointHostname(pod, service);
  return {
    addresses: addressesOf(pod, type),
    conditions: conditionsOf(service.publishNotReadyAddresses || (serving && !terminating), serving, terminating),
    ...(hostname !== '' && { hostname }),
    targetRef: { kind: 'Pod', namespace: pod.namespace, name: pod.name, uid: pod.uid },
    ...(pod.nodeName !== '' && { nodeName: pod.nodeName }),
    ...(node !== null && node.zone !== '' && { zone: node.zone }),
  };
}

const conditions = new Map<number, Required<EndpointConditions>>();

/** Endpoints in the same state share the object. */
function conditionsOf(ready: boolean, serving: boolean, terminating: boolean): Required<EndpointConditions> {
  const key = (ready ? 4 : 0) + (serving ? 2 : 0) + (terminating ? 1 : 0);
  const known = conditions.get(key) ?? { ready, serving, terminating };
  conditions.set(key, known);
  return known;
}

/** The Pod's addresses of this type, in the order of its status. */
function addressesOf(pod: Pod, type: AddressType): string[] {
  const addresses: string[] = [];
  for (const text of pod.ips) {
    const ip = normaliseIp(text);
    if (ip.family === type) addresses.push(ip.text);
  }
  // A copy has no room to grow, which V8 reserves for 16 more items on the first push.
  return addresses.slice();
}

/** Returns the ports of a Pod that resolve, in the order of the Service (E16). */
export function endpointPorts(service: Service, pod: Pod): EndpointPort[] {
  const ports: EndpointPort[] = [];
  for (const servicePort of service.ports) {
    const port = findPort(pod, servicePort);
    if (port === null) continue;
    const { name, protocol, appProtocol } = servicePort;
    ports.push({ name, protocol, port, ...(appProtocol !== null && { appProtocol }) });
  }
  return ports;
}
