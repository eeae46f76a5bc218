import type { SimulatedNode } from './nodes.ts';

const first = 2;
const last = 254;

/** Allocates Pod addresses from the Node's subnets, as a CNI plugin does. */
export class PodAddresses {
  readonly #used = new Set<string>();
  readonly #next = new Map<number, number>();

  /** Returns an IPv4 and an IPv6 address, or undefined if the subnet is full. */
  allocate({ subnet }: SimulatedNode): readonly [string, string] | undefined {
    const start = this.#next.get(subnet) ?? first;
    for (let tries = 0; tries <= last - first; tries++) {
      const host = first + ((start - first + tries) % (last - first + 1));
      const ip = `10.244.${subnet % 256}.${host}`;
      if (this.#used.has(ip)) continue;
      this.#used.add(ip);
      this.#next.set(subnet, host + 1);
      return [ip, `fd00:10:244:${(subnet % 65536).toString(16)}::${host.toString(16)}`];
    }
    return undefined;
  }

  release(ip: string | undefined): void {
    if (ip !== undefined) this.#used.delete(ip);
  }
}
