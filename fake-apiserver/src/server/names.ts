import type { Random } from '@sluice/platform';

const alphabet = 'bcdfghjklmnpqrstvwxz2456789';
const maxBaseLength = 58;
const suffixLength = 5;

/** A name generated from `generateName`: its first 58 characters and a random suffix of five (K1). */
export function generateName(base: string, random: Random): string {
  let suffix = '';
  for (let i = 0; i < suffixLength; i++) suffix += alphabet[Math.floor(random.next() * alphabet.length)];
  return base.slice(0, maxBaseLength) + suffix;
}

/** A version 4 UUID. */
export function randomUid(random: Random): string {
  let hex = '';
  while (hex.length < 32)
    hex += Math.floor(random.next() * 0x100000000)
      .toString(16)
      .padStart(8, '0');
  const variant = '89ab'[Math.floor(random.next() * 4)];
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20)}`;
}

/** RFC 3339 in whole seconds, the format of Kubernetes timestamps. `ms`: milliseconds since the Unix epoch. */
export function timestamp(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}
