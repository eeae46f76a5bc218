import { type Random, randomInteger } from '@sluice/platform';

export type IPFamily = 'IPv4' | 'IPv6';

/** Allocates from 10.96.0.0/16 and fd00:10:96::/112; the first addresses are reserved for Services that request one. */
export class ClusterIPs {
  readonly #random: Random;
  readonly #used = new Set<string>();

  constructor(random: Random) {
    this.#random = random;
  }

  allocate(family: IPFamily): string {
    for (;;) {
      const host = randomInteger(this.#random, 16, 65_534);
      const ip = family === 'IPv4' ? `10.96.${host >> 8}.${host & 255}` : `fd00:10:96::${host.toString(16)}`;
      if (this.reserve(ip)) return ip;
    }
  }

  /** False if the address is already allocated. */
  reserve(ip: string): boolean {
    if (this.#used.has(ip)) return false;
    this.#used.add(ip);
    return true;
  }

  release(ip: string): void {
    this.#used.delete(ip);
  }
}

export function familyOf(ip: string): IPFamily {
  return ip.includes(':') ? 'IPv6' : 'IPv4';
}
