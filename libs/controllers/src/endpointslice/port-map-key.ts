import { type EndpointPort, memoisedFnv1a128 } from '@sluice/model';

/** Ports in the order in which they are written, and the key shared by slices with the same ports (C25). */
export interface KeyedPorts {
  readonly key: string;
  readonly ports: readonly EndpointPort[];
}

/** One memo for both kinds of text: a cluster has few distinct ports and port lists. */
const hashOf = memoisedFnv1a128(8192);

/** Keys of known lists. A slice keeps its list object across versions. */
const known = new WeakMap<readonly EndpointPort[], KeyedPorts>();

/** Sorts ports by hash and derives the key of their multiset. A null list equals an empty one (L2). */
export function portMapKey(ports: readonly EndpointPort[] | null | undefined): KeyedPorts {
  const list = ports ?? [];
  let keyed = known.get(list);
  if (keyed === undefined) {
    const sorted = sortedPorts(list);
    keyed = { key: hashOf(dumpEndpointPorts(sorted)), ports: sorted };
    known.set(list, keyed);
  }
  return keyed;
}

function sortedPorts(ports: readonly EndpointPort[]): readonly EndpointPort[] {
  if (ports.length < 2) return ports;
  const hashed = ports.map((port) => ({ port, hash: hashOf(dumpEndpointPort(port)) }));
  hashed.sort((a, b) => (a.hash < b.hash ? -1 : a.hash > b.hash ? 1 : 0));
  return hashed.map(({ port }) => port);
}

/** Go's dump of a port, over which the order of ports is hashed (L2). */
export function dumpEndpointPort(port: EndpointPort): string {
  return `(v1.EndpointPort)${fields(port)}`;
}

/** Go's dump of a sorted port list, over which the key is hashed (L2). */
export function dumpEndpointPorts(ports: readonly EndpointPort[]): string {
  return `([]v1.EndpointPort)[${ports.map(fields).join(' ')}]`;
}

function fields(port: EndpointPort): string {
  const name = port.name ?? '<nil>';
  const protocol = port.protocol ?? '<nil>';
  const number = port.port ?? '<nil>';
  const app = port.appProtocol ?? '<nil>';
  return `{Name:(*string)${name} Protocol:(*v1.Protocol)${protocol} Port:(*int32)${number} AppProtocol:(*string)${app}}`;
}
