import type { WorldNode } from './nodes.ts';

const first = 2;
const last = 254;

/** Gives Pods their addresses, as a Node's network plug-in does: the next free ones of the Node's subnets. */
export class PodAddresses {
  readonly #used = new Set<string>();
  readonly #next = new Map<number, number>();

  /** One IPv4 and one IPv6 address. Undefined if the Node has none left. */
  allocate({ subnet }: WorldNode): readonly [string, string] | undefined {
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
