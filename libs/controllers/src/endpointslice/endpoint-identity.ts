import { type Endpoint, type EndpointPort, memoisedFnv1a128, type ObjectReference } from '@sluice/model';

/** Returns the endpoint with sorted addresses, which is how endpoints are written (C23). */
export function withSortedAddresses(endpoint: Endpoint): Endpoint {
  const { addresses } = endpoint;
  if (addresses.length < 2) return endpoint;
  const sorted = [...addresses].sort();
  return sorted.every((address, i) => address === addresses[i]) ? endpoint : { ...endpoint, addresses: sorted };
}

/** Whether two versions of the same endpoint are equal, apart from hints (C24). */
export function endpointsEqualBeyondHash(a: Endpoint, b: Endpoint): boolean {
  return (
    (a.nodeName ?? null) === (b.nodeName ?? null) &&
    (a.zone ?? null) === (b.zone ?? null) &&
    (a.conditions?.ready ?? null) === (b.conditions?.ready ?? null) &&
    (a.conditions?.serving ?? null) === (b.conditions?.serving ?? null) &&
    (a.conditions?.terminating ?? null) === (b.conditions?.terminating ?? null) &&
    equalTargets(a.targetRef ?? null, b.targetRef ?? null)
  );
}

function equalTargets(a: ObjectReference | null, b: ObjectReference | null): boolean {
  if (a === b) return true;
  if (a === null || b === null) return false;
  return (
    (a.uid ?? '') === (b.uid ?? '') &&
    (a.kind ?? '') === (b.kind ?? '') &&
    (a.name ?? '') === (b.name ?? '') &&
    (a.namespace ?? '') === (b.namespace ?? '') &&
    (a.apiVersion ?? '') === (b.apiVersion ?? '') &&
    (a.fieldPath ?? '') === (b.fieldPath ?? '')
  );
}

/** Whether an endpoint counts as ready. An unknown condition does not. */
export function isReady(endpoint: Endpoint): boolean {
  return endpoint.conditions?.ready === true;
}

/**
 * Set of endpoints, compared by addresses, hostname, and namespace and name of the target (C23). Indexed by the lowest
 * address, so a lookup allocates no key. Iterates in insertion order.
 */
export class EndpointSet implements Iterable<Endpoint> {
  readonly #byAddress = new Map<string, Endpoint | Endpoint[]>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Replaces an equal endpoint. */
  insert(endpoint: Endpoint): void {
    const address = leastAddress(endpoint);
    const held = this.#byAddress.get(address);
    if (held === undefined) {
      this.#byAddress.set(address, endpoint);
      this.#size++;
    } else if (Array.isArray(held)) {
      const at = held.findIndex((one) => isSameEndpoint(one, endpoint));
      if (at >= 0) held[at] = endpoint;
      else this.#size = this.#size - held.length + held.push(endpoint);
    } else if (isSameEndpoint(held, endpoint)) {
      this.#byAddress.set(address, endpoint);
    } else {
      this.#byAddress.set(address, [held, endpoint]);
      this.#size++;
    }
  }

  get(endpoint: Endpoint): Endpoint | undefined {
    const held = this.#byAddress.get(leastAddress(endpoint));
    if (held === undefined) return undefined;
    if (Array.isArray(held)) return held.find((one) => isSameEndpoint(one, endpoint));
    return isSameEndpoint(held, endpoint) ? held : undefined;
  }

  /** Removes and returns the equal endpoint. */
  take(endpoint: Endpoint): Endpoint | undefined {
    const found = this.get(endpoint);
    if (found === undefined) return undefined;
    const address = leastAddress(endpoint);
    const held = this.#byAddress.get(address);
    if (Array.isArray(held)) held.splice(held.indexOf(found), 1);
    if (!Array.isArray(held) || held.length === 0) this.#byAddress.delete(address);
    this.#size--;
    return found;
  }

  *[Symbol.iterator](): Iterator<Endpoint> {
    for (const held of this.#byAddress.values()) {
      if (Array.isArray(held)) yield* held;
      else yield held;
    }
  }
}

function leastAddress({ addresses }: Endpoint): string {
  let least = addresses[0] ?? '';
  for (const address of addresses) if (address < least) least = address;
  return least;
}

/** Whether two endpoints are versions of the same one (C23). */
export function isSameEndpoint(a: Endpoint, b: Endpoint): boolean {
  return (
    (a.targetRef?.name ?? '') === (b.targetRef?.name ?? '') &&
    (a.targetRef?.namespace ?? '') === (b.targetRef?.namespace ?? '') &&
    (a.hostname ?? '') === (b.hostname ?? '') &&
    sameAddresses(a.addresses, b.addresses)
  );
}

function sameAddresses(a: readonly string[], b: readonly string[]): boolean {
  if (a.length !== b.length) return false;
  if (a.length === 1) return a[0] === b[0];
  const sorted = [...b].sort();
  return [...a].sort().every((address, i) => address === sorted[i]);
}

/** Ports in the order in which they are written, and the key shared by slices with the same ports (C25). */
interface KeyedPorts {
  readonly key: string;
  readonly ports: readonly EndpointPort[];
}

/** One memo for both kinds of text: a cluster has few distinct ports and port lists. */
const hashOf = memoisedFnv1a128(8192);

/** Keys of known lists. A slice keeps its list object across versions. */
const knownKeys = new WeakMap<readonly EndpointPort[], KeyedPorts>();

/** Sorts ports by hash and derives the key of their multiset. A null list equals an empty one (L2). */
export function portMapKey(ports: readonly EndpointPort[] | null | undefined): KeyedPorts {
  const list = ports ?? [];
  let keyed = knownKeys.get(list);
  if (keyed === undefined) {
    const sorted = sortedPorts(list);
    keyed = { key: hashOf(dumpEndpointPorts(sorted)), ports: sorted };
    knownKeys.set(list, keyed);
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
