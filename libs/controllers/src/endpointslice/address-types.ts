import { type AddressType, isIpv6, isServiceIpSet, type Service } from '@sluice/model';

/** Returns the address types that a Service needs slices for, in the order of its IP families (E12). */
export function addressTypesOf(service: Service): readonly AddressType[] {
  const families = new Set<AddressType>();
  for (const family of service.ipFamilies) if (family === 'IPv4' || family === 'IPv6') families.add(family);
  if (families.size > 0) return [...families];
  if (isServiceIpSet(service)) return [isIpv6(service.clusterIP) ? 'IPv6' : 'IPv4'];
  return ['IPv4', 'IPv6'];
}
