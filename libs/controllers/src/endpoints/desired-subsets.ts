import type {
  EndpointAddress,
  EndpointSubset,
  EndpointsPort,
  Pod,
  PodOnNode,
  Service,
  ServicePort,
} from '@sluice/model';
import { shouldPodBeInEndpoints } from '../pods/endpoint-eligibility.ts';
import { findPort } from '../pods/find-port.ts';
import { podToEndpointAddress } from './pod-to-address.ts';
import { noPort, portIdentity, SubsetPacker } from './repack-subsets.ts';

export interface DesiredSubsets {
  readonly subsets: readonly EndpointSubset[];
  /** Addresses keyed by Pod name. An address is in no subset if its Pod has none of the ports. */
  readonly byPod: ReadonlyMap<string, EndpointAddress>;
}

/** Returns the subsets that the Endpoints of a Service should have, before truncation (D9–D15). */
export function desiredSubsets(service: Service, pods: Iterable<PodOnNode>): DesiredSubsets {
  const packer = new SubsetPacker();
  const byPod = new Map<string, EndpointAddress>();
  const headlessWithoutPorts = service.ports.length === 0 && service.clusterIP === 'None';
  const ports = service.ports.map(portsByNumber);
  for (const { pod } of pods) {
    const address = desiredAddress(service, pod);
    if (address === null) continue;
    const ready = isOfferedAsReady(service, pod);
    if (headlessWithoutPorts) packer.add(address, null, noPort, ready);
    for (const portFor of ports) {
      const found = portFor(pod);
      if (found !== null) packer.add(address, found.port, found.identity, ready);
    }
    byPod.set(pod.name, address);
  }
  return { subsets: packer.pack(), byPod };
}

/** Returns the address of a Pod, or null if the Endpoints should not contain it. */
export function desiredAddress(service: Service, pod: Pod): EndpointAddress | null {
  return shouldPodBeInEndpoints(pod, service.publishNotReadyAddresses) ? podToEndpointAddress(pod, service) : null;
}

export function isOfferedAsReady(service: Service, pod: Pod): boolean {
  return service.publishNotReadyAddresses || pod.ready;
}

interface ResolvedPort {
  readonly port: EndpointsPort;
  readonly identity: string;
}

/**
 * Returns a function that resolves one Service port for a Pod. Pods with the same port number share the object (D13).
 */
function portsByNumber(servicePort: ServicePort, index: number): (pod: Pod) => ResolvedPort | null {
  const known = new Map<number, ResolvedPort>();
  return (pod) => {
    const number = findPort(pod, servicePort);
    if (number === null) return null;
    const before = known.get(number);
    if (before !== undefined) return before;
    const { name, protocol, appProtocol } = servicePort;
    const port: EndpointsPort = {
      ...(name !== '' && { name }),
      port: number,
      ...(protocol !== '' && { protocol }),
      ...(appProtocol !== null && { appProtocol }),
    };
    const resolved = { port, identity: portIdentity(port, String(index)) };
    known.set(number, resolved);
    return resolved;
  };
}
