import type { AddressType, Endpoint, Endpoints, PodOnNode, Service } from '@sluice/model';
import { podToEndpointAddress } from './endpoints/desired-subsets.ts';
import { addressTypesOf } from './endpointslice/controller.ts';
import { podToEndpoint } from './endpointslice/desired-endpoints.ts';
import { findPort, shouldPodBeInEndpoints } from './pods.ts';

/** Where a Pod appears: in slices of an address type, or in the Endpoints. */
export type Place = AddressType | 'Endpoints';

/** How a Pod appears where it does not appear. */
export const absent = '';

/** How a Pod should appear in each place. */
export function* expectedPlaces(known: PodOnNode | undefined, service: Service | null): Iterable<[Place, string]> {
  const types = service === null ? [] : addressTypesOf(service);
  for (const type of ['IPv4', 'IPv6'] as const) {
    yield [type, known && service && types.includes(type) ? expectedEndpoint(known, service, type) : absent];
  }
  yield ['Endpoints', known && service ? expectedAddress(known, service) : absent];
}

/** As upstream decides it (C3, E15, E17). */
function expectedEndpoint({ pod, node }: PodOnNode, service: Service, type: 'IPv4' | 'IPv6'): string {
  const isLeftOut = node === null && !service.publishNotReadyAddresses;
  if (service.selector === null || isLeftOut || !shouldPodBeInEndpoints(pod, true)) return absent;
  const endpoint = podToEndpoint(pod, node, service, type);
  return endpoint.addresses.length === 0 ? absent : endpointContent(endpoint);
}

/** As upstream decides it (D10–D13): a Pod that has none of the Service's ports is in no subset. */
function expectedAddress({ pod }: PodOnNode, service: Service): string {
  const { publishNotReadyAddresses, selector, ports, clusterIP } = service;
  if (selector === null || !shouldPodBeInEndpoints(pod, publishNotReadyAddresses)) return absent;
  const isHeadlessWithoutPorts = ports.length === 0 && clusterIP === 'None';
  if (!isHeadlessWithoutPorts && ports.every((port) => findPort(pod, port) === null)) return absent;
  const address = podToEndpointAddress(pod, service);
  return address === null ? absent : `${address.ip} ${publishNotReadyAddresses || pod.ready}`;
}

/** How an endpoint appears in a slice, without zone and hints, which depend on other objects. */
export function endpointContent({ addresses, conditions }: Pick<Endpoint, 'addresses' | 'conditions'>): string {
  const ready = conditions?.ready ?? true;
  return [addresses.join(), ready, conditions?.serving ?? ready, conditions?.terminating ?? false].join(' ');
}

/** Name of the endpoint's Pod; empty for a custom endpoint. */
export const podOf = ({ targetRef }: Pick<Endpoint, 'targetRef'>): string =>
  targetRef?.kind === 'Pod' ? (targetRef.name ?? '') : '';

/** How each Pod appears in the Endpoints. */
export function podsIn(endpoints: Endpoints | undefined): ReadonlyMap<string, string> {
  const pods = new Map<string, string>();
  for (const { addresses, notReadyAddresses } of endpoints?.subsets ?? []) {
    for (const { ip, targetRef } of addresses ?? []) pods.set(targetRef?.name ?? ip, `${ip} true`);
    for (const { ip, targetRef } of notReadyAddresses ?? []) pods.set(targetRef?.name ?? ip, `${ip} false`);
  }
  return pods;
}
