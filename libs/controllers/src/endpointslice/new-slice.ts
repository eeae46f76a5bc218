import { equalStringMaps, withoutKeys } from '../comparison/string-maps.ts';
import type { AddressType, Endpoint, EndpointPort, EndpointSlice } from '../objects/endpointslice.ts';
import type { OwnerReference, StringMap } from '../objects/metadata.ts';
import { isServiceIpSet, type Service } from '../objects/service.ts';
import { endpointSliceController, headlessLabel, managedByLabel, serviceNameLabel } from '../objects/well-known.ts';

/** A slice of a Service that does not exist yet (E25). The name is left to whoever creates it. */
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

/** The generateName of slices: the name and a dash, or the name alone where that cannot begin an object's name (E25). */
export function endpointSlicePrefix(name: string): string {
  const prefix = `${name}-`;
  return canBeginName(prefix) ? prefix : name;
}

const dnsSubdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/** A prefix that ends in a dash is judged as if a letter followed in the place of its last two characters. */
function canBeginName(prefix: string): boolean {
  const name = prefix.length > 1 ? `${prefix.slice(0, -2)}a` : prefix;
  return name.length <= 253 && dnsSubdomain.test(name);
}

const reservedLabels: readonly string[] = [serviceNameLabel, managedByLabel, headlessLabel];

/** Labels of the Service without the reserved ones, plus ours (E26). */
export function sliceLabels(service: Service): StringMap {
  return {
    ...withoutKeys(service.labels, reservedLabels),
    ...(!isServiceIpSet(service) && { [headlessLabel]: '' }),
    [serviceNameLabel]: service.name,
    [managedByLabel]: endpointSliceController,
  };
}

/** Whether the labels of a slice are those of its Service; reserved labels are not compared (E26). */
export function hasLabelsOf(slice: EndpointSlice, service: Service): boolean {
  return equalStringMaps(
    withoutKeys(slice.metadata.labels, reservedLabels),
    withoutKeys(service.labels, reservedLabels),
  );
}

/** Whether the slice belongs to this very Service, not to an earlier one of its name (E14). */
export function isOwnedBy(slice: EndpointSlice, service: Service): boolean {
  const owners = slice.metadata.ownerReferences ?? [];
  return owners.some(({ apiVersion, kind, uid }) => uid === service.uid && kind === 'Service' && apiVersion === 'v1');
}
