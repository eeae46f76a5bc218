import {
  type AddressType,
  type Endpoint,
  type EndpointAddress,
  type EndpointPort,
  type Endpoints,
  type EndpointsPort,
  parseIp,
} from '@sluice/model';
import { repackSubsets } from '../endpoints/repack-subsets.ts';
import { EndpointSet, portMapKey } from '../endpointslice/endpoint-identity.ts';

/** Endpoints of one IP family that share their ports: the content of one mirrored slice. */
export interface MirroredGroup {
  readonly addressType: AddressType;
  readonly ports: readonly EndpointPort[];
  readonly endpoints: EndpointSet;
}

export interface MirroredAddresses {
  /** Keyed by {@link groupKey}. */
  readonly groups: ReadonlyMap<string, MirroredGroup>;
  /** Keys of all port lists, including those without addresses (H10). */
  readonly portKeys: ReadonlySet<string>;
  /** Number of addresses that are not IP addresses (H17). */
  readonly invalid: number;
  /** Number of addresses not mirrored, including invalid ones. */
  readonly skipped: number;
}

/** Returns the content that slices should mirror from an Endpoints object (H9–H13, H17). */
export function mirroredAddresses(endpoints: Endpoints, maxEndpointsPerSubset: number): MirroredAddresses {
  const groups = new Map<string, MirroredGroup>();
  const portKeys = new Set<string>();
  let invalid = 0;
  let skipped = 0;
  for (const subset of repackSubsets(endpoints.subsets)) {
    const { key, ports } = portMapKey((subset.ports ?? []).map(slicePort));
    portKeys.add(key);
    const ready = subset.addresses ?? [];
    const notReady = subset.notReadyAddresses ?? [];
    let added = 0;
    const mirror = (address: EndpointAddress, isReady: boolean) => {
      if (added >= maxEndpointsPerSubset) return;
      if (addTo(groups, key, ports, address, isReady)) added++;
      else invalid++;
    };
    for (const address of ready) mirror(address, true);
    for (const address of notReady) mirror(address, false);
    skipped += ready.length + notReady.length - added;
  }
  return { groups, portKeys, invalid, skipped };
}

export function groupKey(addressType: string, portsKey: string): string {
  return `${addressType} ${portsKey}`;
}

/** A slice port always has a name and protocol, even if empty (H10). */
function slicePort({ name, protocol, port, appProtocol }: EndpointsPort): EndpointPort {
  const app = appProtocol ?? null;
  return { name: name ?? '', protocol: protocol ?? '', port, ...(app !== null && { appProtocol: app }) };
}

/** Returns false if the address is not an IP address. Of equal endpoints the last one wins (H13). */
function addTo(
  groups: Map<string, MirroredGroup>,
  portsKey: string,
  ports: readonly EndpointPort[],
  address: EndpointAddress,
  ready: boolean,
): boolean {
  const ip = parseIp(address.ip);
  if (ip === null) return false;
  const key = groupKey(ip.family, portsKey);
  const group = groups.get(key) ?? { addressType: ip.family, ports, endpoints: new EndpointSet() };
  groups.set(key, group);
  group.endpoints.insert(mirroredEndpoint(ip.text, address, ready));
  return true;
}

/** The endpoint of one mirrored address, without zone or hints (H12). */
function mirroredEndpoint(ip: string, { hostname, nodeName, targetRef }: EndpointAddress, ready: boolean): Endpoint {
  return {
    addresses: [ip],
    conditions: { ready },
    ...(hostname !== undefined && hostname !== '' && { hostname }),
    ...(targetRef !== undefined && targetRef !== null && { targetRef }),
    ...(nodeName !== undefined && nodeName !== null && { nodeName }),
  };
}
