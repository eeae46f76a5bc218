import { asRecord, asString } from '@sluice/platform';
import { type ClusterIPs, familyOf, type IPFamily } from './cluster-ips.ts';
import { type FieldError, invalid } from './field-error.ts';
import { arrayOf, type GivenObject, type StoredObject } from './object.ts';

type Spec = Readonly<Record<string, unknown>>;

export interface DefaultedService {
  readonly object: GivenObject;
  readonly errors: readonly FieldError[];
}

/**
 * Fills in missing fields of a Service: type, protocols, target ports, IP families and cluster IPs. An update keeps the
 * stored values of missing fields; the primary cluster IP is immutable. Allocates addresses; the caller releases them.
 */
export function defaultService(
  object: GivenObject,
  old: StoredObject | undefined,
  clusterIPs: ClusterIPs,
): DefaultedService {
  const spec = asRecord(object.spec);
  const ports = arrayOf(spec.ports).map((value) => {
    const port = asRecord(value);
    return { protocol: 'TCP', targetPort: port.port, ...port };
  });
  const base: Spec = {
    sessionAffinity: 'None',
    type: 'ClusterIP',
    ...spec,
    ...(ports.length > 0 ? { ports } : {}),
  };
  if (base.type === 'ExternalName') return { object: { ...object, spec: withoutAddresses(base) }, errors: [] };
  const oldIPs = clusterIPsOf(old);
  const families = familiesOf(base);
  const addresses = addressesOf(base, oldIPs, families, clusterIPs);
  const given = {
    internalTrafficPolicy: 'Cluster',
    ...base,
    clusterIP: addresses.ips[0] ?? '',
    clusterIPs: addresses.ips,
    ipFamilies: families,
    ipFamilyPolicy: base.ipFamilyPolicy ?? (families.length > 1 ? 'RequireDualStack' : 'SingleStack'),
  };
  return { object: { ...object, spec: given }, errors: addresses.errors };
}

/** The addresses allocated to a stored Service, without `None`. */
export function clusterIPsOf(service: GivenObject | undefined): readonly string[] {
  const spec = asRecord(service?.spec);
  const all = arrayOf(spec.clusterIPs).map(asString);
  return (all.length > 0 ? all : [asString(spec.clusterIP)]).filter((ip) => ip !== '' && ip !== 'None');
}

function withoutAddresses(spec: Spec): Spec {
  const { clusterIP: _ip, clusterIPs: _ips, ipFamilies: _families, ipFamilyPolicy: _policy, ...rest } = spec;
  return rest;
}

function familiesOf(spec: Spec): readonly IPFamily[] {
  const given = arrayOf(spec.ipFamilies).map((family): IPFamily => (family === 'IPv6' ? 'IPv6' : 'IPv4'));
  const ips = arrayOf(spec.clusterIPs).map(asString).filter(isAddress);
  const wanted = given.length > 0 ? given : ips.map(familyOf);
  const first = wanted[0] ?? 'IPv4';
  const policy = spec.ipFamilyPolicy;
  // A headless Service without a selector may have endpoints of any family.
  const anyFamily = isHeadless(spec) && spec.selector === undefined && wanted.length === 0;
  const dual = policy === undefined ? wanted.length > 1 || anyFamily : policy !== 'SingleStack';
  if (!dual) return [first];
  return [first, first === 'IPv4' ? 'IPv6' : 'IPv4'];
}

function isHeadless(spec: Spec): boolean {
  return spec.clusterIP === 'None' || arrayOf(spec.clusterIPs)[0] === 'None';
}

function isAddress(ip: string): boolean {
  return ip !== '' && ip !== 'None';
}

function addressesOf(
  spec: Spec,
  oldIPs: readonly string[],
  families: readonly IPFamily[],
  clusterIPs: ClusterIPs,
): { readonly ips: readonly string[]; readonly errors: readonly FieldError[] } {
  if (isHeadless(spec)) return { ips: ['None'], errors: [] };
  const asked = arrayOf(spec.clusterIPs).map(asString).filter(isAddress);
  const primary = asString(spec.clusterIP);
  const given = asked.length > 0 || !isAddress(primary) ? asked : [primary];
  if (oldIPs[0] !== undefined && given[0] !== undefined && given[0] !== oldIPs[0])
    return { ips: given, errors: [invalid('spec.clusterIPs[0]', given, 'may not change once set')] };
  const ips: string[] = [];
  for (const family of families) {
    const kept = oldIPs.find((ip) => familyOf(ip) === family);
    const wanted = given.find((ip) => familyOf(ip) === family);
    if (kept === undefined && wanted !== undefined && !clusterIPs.reserve(wanted))
      return {
        ips: given,
        errors: [invalid('spec.clusterIPs', given, 'failed to allocate IP: provided IP is already allocated')],
      };
    ips.push(kept ?? wanted ?? clusterIPs.allocate(family));
  }
  return { ips, errors: [] };
}
