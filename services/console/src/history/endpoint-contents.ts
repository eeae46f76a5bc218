import { addressTypesOf, podToEndpoint, podToEndpointAddress, shouldPodBeInEndpoints } from '@sluice/controllers';
import type { EndpointSlice, Endpoints, Service } from '@sluice/model';
import type { EndpointChange } from '../view/entry-schemas.ts';
import type { KnownPod } from './describe-pod-change.ts';
import { endpointState } from './endpoint-changes.ts';

/** Where a Pod appears: in slices of an address type, or in the Endpoints. */
export type Place = EndpointSlice['addressType'] | 'Endpoints';

/** How a Pod appears where it does not appear. */
export const absent = '';

/** How a Pod should appear in each place. */
export function* expectedPlaces(known: KnownPod | undefined, service: Service | null): Iterable<[Place, string]> {
  const types = service === null ? [] : addressTypesOf(service);
  for (const type of ['IPv4', 'IPv6'] as const) {
    yield [type, known && service && types.includes(type) ? expectedEndpoint(known, service, type) : absent];
  }
  yield ['Endpoints', known && service ? expectedAddress(known, service) : absent];
}

/** As upstream decides it (C3, E15, E17). */
function expectedEndpoint({ pod, node }: KnownPod, service: Service, type: 'IPv4' | 'IPv6'): string {
  const isLeftOut = node === null && !service.publishNotReadyAddresses;
  if (service.selector === null || isLeftOut || !shouldPodBeInEndpoints(pod, true)) return absent;
  const endpoint = podToEndpoint(pod, node, service, type);
  if (endpoint.addresses.length === 0) return absent;
  return contentOf({ addresses: endpoint.addresses, after: endpointState(endpoint) });
}

/** As upstream decides it (D10, D11). */
function expectedAddress({ pod }: KnownPod, service: Service): string {
  const { publishNotReadyAddresses, selector } = service;
  if (selector === null || !shouldPodBeInEndpoints(pod, publishNotReadyAddresses)) return absent;
  const address = podToEndpointAddress(pod, service);
  return address === null ? absent : `${address.ip} ${publishNotReadyAddresses || pod.ready}`;
}

/** How an endpoint appears in a slice, without zone and hints, which depend on other objects. */
export function contentOf({ addresses, after }: Pick<EndpointChange, 'addresses' | 'after'>): string {
  return after === null ? absent : [addresses.join(), after.ready, after.serving, after.terminating].join(' ');
}

/** How each Pod appears in the Endpoints. */
export function podsIn(endpoints: Endpoints | undefined): ReadonlyMap<string, string> {
  const pods = new Map<string, string>();
  for (const { addresses, notReadyAddresses } of endpoints?.subsets ?? []) {
    for (const { ip, targetRef } of addresses ?? []) pods.set(targetRef?.name ?? ip, `${ip} true`);
    for (const { ip, targetRef } of notReadyAddresses ?? []) pods.set(targetRef?.name ?? ip, `${ip} false`);
  }
  return pods;
}
