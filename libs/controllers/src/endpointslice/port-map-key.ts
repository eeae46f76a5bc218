import { memoisedFnv1a128 } from '../hashing/fnv-1a-128.ts';
import type { EndpointPort } from '../objects/endpointslice.ts';

/** Ports in the order in which they are written, and the key of slices with the same ports (C25). */
export interface KeyedPorts {
  readonly key: string;
  readonly ports: readonly EndpointPort[];
}

/** Distinct ports and lists of ports are few in a cluster; both kinds of text share the memory. */
const hashOf = memoisedFnv1a128(8192);

/** Of lists that were looked at before; slices keep theirs from one version to the next. */
const known = new WeakMap<readonly EndpointPort[], KeyedPorts>();

/** Sorts ports by their hashes and derives the key of their multiset; a null list equals an empty one (L2). */
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

/** The text over which the order of ports is hashed (L2). */
export function dumpEndpointPort(port: EndpointPort): string {
  return `(v1.EndpointPort)${fields(port)}`;
}

/** The text over which the key of a sorted list is hashed (L2). */
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
