import type { EndpointAddress, EndpointSubset, EndpointsPort, ObjectReference } from '@sluice/model';

/** Go's dumps of ports and subsets, over which their order is hashed (L3, L4). */

export function dumpEndpointsPort(port: EndpointsPort): string {
  return `(v1.EndpointPort)${portFields(port)}`;
}

export function dumpEndpointSubset(subset: EndpointSubset): string {
  const ready = list('([]v1.EndpointAddress)', subset.addresses, addressFields);
  const notReady = list('([]v1.EndpointAddress)', subset.notReadyAddresses, addressFields);
  const ports = list('([]v1.EndpointPort)', subset.ports, portFields);
  return `(v1.EndpointSubset){Addresses:${ready} NotReadyAddresses:${notReady} Ports:${ports}}`;
}

function list<T>(type: string, items: readonly T[] | null | undefined, dump: (item: T) => string): string {
  if (items === null || items === undefined) return `${type}<nil>`;
  return `${type}[${items.map(dump).join(' ')}]`;
}

function portFields(port: EndpointsPort): string {
  const name = port.name ?? '';
  const protocol = port.protocol ?? '';
  const app = port.appProtocol ?? '<nil>';
  return `{Name:(string)${name} Port:(int32)${port.port} Protocol:(v1.Protocol)${protocol} AppProtocol:(*string)${app}}`;
}

function addressFields(address: EndpointAddress): string {
  const host = address.hostname ?? '';
  const node = address.nodeName ?? '<nil>';
  return `{IP:(string)${address.ip} Hostname:(string)${host} NodeName:(*string)${node} TargetRef:${target(address.targetRef)}}`;
}

function target(ref: ObjectReference | null | undefined): string {
  if (ref === null || ref === undefined) return '(*v1.ObjectReference)<nil>';
  return (
    `(*v1.ObjectReference){Kind:(string)${ref.kind ?? ''} Namespace:(string)${ref.namespace ?? ''} ` +
    `Name:(string)${ref.name ?? ''} UID:(types.UID)${ref.uid ?? ''} APIVersion:(string)${ref.apiVersion ?? ''} ` +
    `ResourceVersion:(string)${ref.resourceVersion ?? ''} FieldPath:(string)${ref.fieldPath ?? ''}}`
  );
}
