import { parseIpv4, parseIpv6, printIpv4, printIpv6 } from './ip-address.ts';

/** Consecutive addresses of one family. */
export interface IpRange {
  readonly family: 'IPv4' | 'IPv6';
  readonly first: bigint;
  readonly last: bigint;
}

const bits = { IPv4: 32, IPv6: 128 } as const;
const prefixLength = /^(?:0|[1-9]\d{0,2})$/;

/** Parses a CIDR such as `10.244.0.0/16`; bits after the prefix are ignored. Returns null if it is invalid. */
export function parseCidr(text: string): IpRange | null {
  const slash = text.indexOf('/');
  const [address, length] = [text.slice(0, slash), text.slice(slash + 1)];
  const family = address.includes(':') ? 'IPv6' : 'IPv4';
  if (slash < 0 || !prefixLength.test(length) || Number(length) > bits[family]) return null;
  const value = family === 'IPv4' ? ipv4Value(address) : ipv6Value(address);
  if (value === null) return null;
  const size = 1n << BigInt(bits[family] - Number(length));
  const first = value - (value % size);
  return { family, first, last: first + size - 1n };
}

function ipv4Value(text: string): bigint | null {
  const address = parseIpv4(text, 0);
  return address === null ? null : BigInt(address);
}

function ipv6Value(text: string): bigint | null {
  const groups = parseIpv6(text);
  return groups === null ? null : groups.reduce((value, group) => (value << 16n) | BigInt(group), 0n);
}

/** The range as a CIDR, or as `FIRST-LAST` if it is none. */
export function printRange({ family, first, last }: IpRange): string {
  const size = last - first + 1n;
  const isCidr = (size & (size - 1n)) === 0n && first % size === 0n;
  if (!isCidr) return `${printAddress(family, first)}-${printAddress(family, last)}`;
  return `${printAddress(family, first)}/${bits[family] - (size.toString(2).length - 1)}`;
}

function printAddress(family: IpRange['family'], value: bigint): string {
  if (family === 'IPv4') return printIpv4(Number(value));
  return printIpv6(Array.from({ length: 8 }, (_, group) => Number((value >> BigInt(112 - 16 * group)) & 0xffffn)));
}

/** A range of a set whose ranges neither overlap nor touch. */
export interface JoinedRange extends IpRange {
  /** The number of ranges that it joins. */
  readonly members: number;
}

/** Joins ranges that overlap or touch. The result is sorted. */
export function joinRanges(ranges: readonly IpRange[]): readonly JoinedRange[] {
  const joined: JoinedRange[] = [];
  for (const { family, first, last } of ranges.toSorted(byFirstAddress)) {
    const before = joined.at(-1);
    if (before === undefined || before.family !== family || first > before.last + 1n) {
      joined.push({ family, first, last, members: 1 });
      continue;
    }
    const contained = last <= before.last;
    joined[joined.length - 1] = { ...before, last: contained ? before.last : last, members: before.members + 1 };
  }
  return joined;
}

/** IPv4 before IPv6. */
export function byFirstAddress(a: IpRange, b: IpRange): number {
  if (a.family !== b.family) return a.family === 'IPv4' ? -1 : 1;
  return a.first < b.first ? -1 : a.first > b.first ? 1 : 0;
}

export const overlaps = (a: IpRange, b: IpRange): boolean =>
  a.family === b.family && a.first <= b.last && b.first <= a.last;
