import {
  type AddressType,
  type Endpoint,
  type EndpointConditions,
  type EndpointPort,
  type NodePlacement,
  normaliseIp,
  type Pod,
  type Service,
} from '@sluice/model';
import { endpointHostname } from '../pods/endpoint-eligibility.ts';
import { findPort } from '../pods/find-port.ts';

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
