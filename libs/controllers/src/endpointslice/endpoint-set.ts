import type { Endpoint } from '@sluice/model';

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
