import type { AddressType, Endpoint, EndpointPort, EndpointSlice, OwnerReference, Service } from '@sluice/model';
import { sliceLabels } from './slice-labels.ts';

/** Returns a new slice for a Service (E25). Its name is generated when it is created. */
export function newEndpointSlice(
  service: Service,
  addressType: AddressType,
  ports: readonly EndpointPort[],
  endpoints: readonly Endpoint[],
): EndpointSlice {
  return {
    metadata: {
      name: '',
      generateName: endpointSlicePrefix(service.name),
      namespace: service.namespace,
      labels: sliceLabels(service),
      ownerReferences: [ownerReference('Service', service.name, service.uid)],
    },
    addressType,
    endpoints,
    ports,
  };
}

export function ownerReference(kind: string, name: string, uid: string): OwnerReference {
  return { apiVersion: 'v1', kind, name, uid, controller: true, blockOwnerDeletion: true };
}

/**
 * The generateName of slices: the name followed by a dash, or the name alone if the result is not a valid prefix (E25).
 */
export function endpointSlicePrefix(name: string): string {
  const prefix = `${name}-`;
  return canBeginName(prefix) ? prefix : name;
}

const dnsSubdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/** Upstream validates a prefix ending in a dash with its last two characters replaced by a letter. */
function canBeginName(prefix: string): boolean {
  const name = prefix.length > 1 ? `${prefix.slice(0, -2)}a` : prefix;
  return name.length <= 253 && dnsSubdomain.test(name);
}

/** Whether this Service owns the slice, as opposed to an earlier one with the same name (E14). */
export function ownedBy(slice: EndpointSlice, service: Service): boolean {
  const owners = slice.metadata.ownerReferences ?? [];
  return owners.some(({ apiVersion, kind, uid }) => uid === service.uid && kind === 'Service' && apiVersion === 'v1');
}
