import {
  type EndpointAddress,
  type EndpointSubset,
  type EndpointsPort,
  fnv1a128,
  memoisedFnv1a128,
} from '@sluice/model';
import { dumpEndpointSubset, dumpEndpointsPort } from './subset-dump.ts';

/**
 * Returns the canonical form of a list of subsets (D25). Ports with appProtocol are not merged across input subsets.
 */
export function repackSubsets(subsets: readonly EndpointSubset[] | null | undefined): EndpointSubset[] {
  const packer = new SubsetPacker();
  subsets?.forEach((subset, i) => {
    const ports = subset.ports ?? [];
    if (ports.length === 0) addSubset(packer, subset, null, noPort);
    ports.forEach((port, j) => {
      addSubset(packer, subset, port, portIdentity(port, `${i}/${j}`));
    });
  });
  return packer.pack();
}

function addSubset(packer: SubsetPacker, subset: EndpointSubset, port: EndpointsPort | null, identity: string): void {
  for (const address of subset.addresses ?? []) packer.add(address, port, identity, true);
  for (const address of subset.notReadyAddresses ?? []) packer.add(address, port, identity, false);
}

/** Identity of addresses without a port. */
export const noPort = '';

/** Identity of a port by value. Ports with appProtocol are equal only if they come from the same `source` (D25). */
export function portIdentity(port: EndpointsPort, source: string): string {
  const unique = port.appProtocol === null || port.appProtocol === undefined ? '' : source;
  return `${port.port} ${port.protocol ?? ''} ${port.name ?? ''} ${unique}`;
}

interface PortAddresses {
  readonly port: EndpointsPort | null;
  /** Readiness keyed by address number. */
  readonly readiness: Map<number, boolean>;
}

interface IndexedAddress {
  readonly number: number;
  readonly address: EndpointAddress;
}

/** Collects (address, port, readiness) tuples and groups ports by their addresses. */
export class SubsetPacker {
  /** Keyed by IP and target UID. The first address with an identity represents all of them. */
  readonly #addresses = new Map<string, IndexedAddress>();
  readonly #ports = new Map<string, PortAddresses>();

  /** If an address is both ready and not ready for a port, not ready wins. */
  add(address: EndpointAddress, port: EndpointsPort | null, identity: string, ready: boolean): void {
    const number = this.#numberOf(address);
    let offered = this.#ports.get(identity);
    if (offered === undefined) {
      offered = { port, readiness: new Map() };
      this.#ports.set(identity, offered);
    }
    if (offered.readiness.get(number) !== false) offered.readiness.set(number, ready);
  }

  pack(): EndpointSubset[] {
    const ordered = [...this.#addresses.values()].sort((a, b) => compareAddresses(a.address, b.address));
    const subsets = this.#portsByAddresses().map((group) => subsetOf(ordered, group));
    return sortedByHash(subsets, (subset) => fnv1a128(dumpEndpointSubset(subset)));
  }

  #numberOf(address: EndpointAddress): number {
    const key = `${address.ip} ${address.targetRef?.uid ?? ''}`;
    const known = this.#addresses.get(key);
    if (known !== undefined) return known.number;
    const number = this.#addresses.size;
    this.#addresses.set(key, { number, address });
    return number;
  }

  /** Groups ports with the same addresses in the same readiness. */
  #portsByAddresses(): PortAddresses[][] {
    const offered = [...this.#ports.values()];
    if (offered.length < 2) return offered.map((one) => [one]);
    const groups = new Map<string, PortAddresses[]>();
    for (const one of offered) {
      const key = readinessKey(one.readiness);
      const group = groups.get(key);
      if (group === undefined) groups.set(key, [one]);
      else group.push(one);
    }
    return [...groups.values()];
  }
}

function readinessKey(readiness: ReadonlyMap<number, boolean>): string {
  const numbers: number[] = [];
  for (const [number, ready] of readiness) numbers.push(ready ? number * 2 : number * 2 + 1);
  return numbers.sort((a, b) => a - b).join();
}

function subsetOf(ordered: readonly IndexedAddress[], group: readonly PortAddresses[]): EndpointSubset {
  const readiness = group[0]?.readiness;
  const ready: EndpointAddress[] = [];
  const notReady: EndpointAddress[] = [];
  for (const { number, address } of ordered) {
    const state = readiness?.get(number);
    if (state !== undefined) (state ? ready : notReady).push(address);
  }
  const ports = portsOf(group);
  return {
    ...(ready.length > 0 && { addresses: ready }),
    ...(notReady.length > 0 && { notReadyAddresses: notReady }),
    ...(ports.length > 0 && { ports }),
  };
}

/** A zero port number offers addresses without a port. */
function portsOf(group: readonly PortAddresses[]): EndpointsPort[] {
  const ports: EndpointsPort[] = [];
  for (const { port } of group) if (port !== null && port.port > 0) ports.push(port);
  return sortedByHash(ports, (port) => portHash(dumpEndpointsPort(port)));
}

const portHash = memoisedFnv1a128(4096);

function sortedByHash<T>(items: T[], hash: (item: T) => string): T[] {
  if (items.length < 2) return items;
  const hashed = items.map((item) => ({ item, hash: hash(item) }));
  hashed.sort((a, b) => (a.hash < b.hash ? -1 : a.hash > b.hash ? 1 : 0));
  return hashed.map(({ item }) => item);
}

/** Orders by IP as text, then by target UID, missing first (D25). */
export function compareAddresses(a: EndpointAddress, b: EndpointAddress): number {
  if (a.ip !== b.ip) return a.ip < b.ip ? -1 : 1;
  const left = a.targetRef?.uid ?? '';
  const right = b.targetRef?.uid ?? '';
  return left < right ? -1 : left > right ? 1 : 0;
}
