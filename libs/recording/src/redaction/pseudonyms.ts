import { parseIp } from '@sluice/model';
import { getOrCreate } from '@sluice/platform';

/**
 * Replaces texts: the same text by the same pseudonym, different ones by different pseudonyms. They are numbered in the order of
 * their first use, so a pseudonym says nothing about its text, and nobody can guess short names.
 */
export class Pseudonyms {
  readonly #texts = new Map<string, string>();
  readonly #uids = new Map<string, string>();
  readonly #addresses = new Map<string, string>();
  /** Last number of each prefix. */
  readonly #numbers = new Map<string, number>();

  /** `web` becomes `service-1` wherever it occurs: a name, a label or a part of a text. The first use decides on the prefix. */
  text(text: string, prefix: string): string {
    return text === '' ? '' : getOrCreate(this.#texts, text, () => `${prefix}-${this.#next(prefix)}`);
  }

  /** In the form of a UUID. */
  uid(uid: string): string {
    const uuid = () => `00000000-0000-4000-8000-${this.#next('uid').toString(16).padStart(12, '0')}`;
    return uid === '' ? '' : getOrCreate(this.#uids, uid, uuid);
  }

  /** A valid address stays valid and of its family, however it is written. */
  address(text: string): string {
    const address = parseIp(text);
    if (address === null) return this.text(text, 'address');
    return getOrCreate(this.#addresses, address.text, () => addressOf[address.family](this.#next(address.family)));
  }

  #next(prefix: string): number {
    const number = (this.#numbers.get(prefix) ?? 0) + 1;
    this.#numbers.set(prefix, number);
    return number;
  }
}

/** Of the private ranges 10.0.0.0/8 and fd00::/8. */
const addressOf = {
  IPv4: (n: number) => `10.${(n >>> 16) & 255}.${(n >>> 8) & 255}.${n & 255}`,
  IPv6: (n: number) => parseIp(`fd00::${(n >>> 16).toString(16)}:${(n & 0xffff).toString(16)}`)?.text ?? '',
} as const;
