/** An IP address as Kubernetes prints it. An IPv4-mapped IPv6 address (`::ffff:10.0.0.1`) counts as IPv4 (C6). */
interface IpAddress {
  readonly family: 'IPv4' | 'IPv6';
  readonly text: string;
}

/** How an invalid address prints (C7). */
const unparsable: IpAddress = { family: 'IPv4', text: '<nil>' };

/**
 * Parses an address leniently: leading zeros in IPv4 octets are read as decimal (C6). Returns null for anything else,
 * including addresses with a zone (`fe80::1%eth0`).
 */
export function parseIp(text: string): IpAddress | null {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === dot) return parseIpv4Address(text);
    if (code === colon) return parseIpv6Address(text);
  }
  return null;
}

/** Parses a Pod's address. An invalid one counts as IPv4 and prints as `<nil>` (C7). */
export function normaliseIp(text: string): IpAddress {
  return parseIp(text) ?? unparsable;
}

/** Whether the text is an IPv6 address. An invalid address is not (C7). */
export function isIpv6(text: string): boolean {
  return parseIp(text)?.family === 'IPv6';
}

const zero = 48;
const dot = 46;
const colon = 58;

function parseIpv4Address(text: string): IpAddress | null {
  const address = parseIpv4(text, 0);
  if (address === null) return null;
  return { family: 'IPv4', text: hasLeadingZero(text) ? printIpv4(address) : text };
}

/** Whether an octet of a valid address has leading zeros. */
function hasLeadingZero(text: string): boolean {
  for (let at = 0; at + 1 < text.length; at++) {
    const startsOctet = at === 0 || text.charCodeAt(at - 1) === dot;
    if (startsOctet && text.charCodeAt(at) === zero && text.charCodeAt(at + 1) !== dot) return true;
  }
  return false;
}

/** Parses the text from `start` as a 32-bit number. */
export function parseIpv4(text: string, start: number): number | null {
  let address = 0;
  let octets = 0;
  let at = start;
  for (;;) {
    let octet = 0;
    const begin = at;
    while (at < text.length) {
      const digit = text.charCodeAt(at) - 48;
      if (digit < 0 || digit > 9) break;
      octet = octet * 10 + digit;
      if (octet > 255) return null;
      at++;
    }
    if (at === begin) return null;
    address = address * 256 + octet;
    octets++;
    if (octets === 4) return at === text.length ? address : null;
    if (text.charCodeAt(at) !== dot) return null;
    at++;
  }
}

export function printIpv4(address: number): string {
  return `${address >>> 24}.${(address >>> 16) & 255}.${(address >>> 8) & 255}.${address & 255}`;
}

function parseIpv6Address(text: string): IpAddress | null {
  const groups = parseIpv6(text);
  if (groups === null) return null;
  const embedded = groups[5] === 0xffff && groups.slice(0, 5).every((group) => group === 0);
  if (embedded) return { family: 'IPv4', text: printIpv4((groups[6] ?? 0) * 0x10000 + (groups[7] ?? 0)) };
  return { family: 'IPv6', text: printIpv6(groups) };
}

/** Parses the eight 16-bit groups. */
export function parseIpv6(text: string): number[] | null {
  const groups: number[] = [];
  let gap = -1;
  let at = 0;
  if (text.startsWith('::')) {
    gap = 0;
    at = 2;
  }
  while (at < text.length) {
    if (groups.length === 8) return null;
    const end = endOfHex(text, at);
    if (end === at) return null;
    if (text.charCodeAt(end) === dot) {
      const embedded = groups.length > 6 ? null : parseIpv4(text, at);
      if (embedded === null) return null;
      groups.push(embedded >>> 16, embedded & 0xffff);
      break;
    }
    const group = Number.parseInt(text.slice(at, end), 16);
    if (group > 0xffff) return null;
    groups.push(group);
    if (end === text.length) break;
    if (text.charCodeAt(end) !== colon || end + 1 === text.length) return null;
    at = end + 1;
    if (text.charCodeAt(at) === colon) {
      if (gap >= 0) return null;
      gap = groups.length;
      at++;
    }
  }
  if (gap < 0) return groups.length === 8 ? groups : null;
  if (groups.length === 8) return null;
  groups.splice(gap, 0, ...new Array<number>(8 - groups.length).fill(0));
  return groups;
}

function endOfHex(text: string, start: number): number {
  let at = start;
  while (at < text.length && isHexDigit(text.charCodeAt(at))) at++;
  return at;
}

function isHexDigit(code: number): boolean {
  return (code >= 48 && code <= 57) || (code >= 97 && code <= 102) || (code >= 65 && code <= 70);
}

/** RFC 5952: lower case, and the first longest run of at least two zero groups becomes `::`. */
export function printIpv6(groups: readonly number[]): string {
  let longest = { start: 0, length: 1 };
  for (let start = 0; start < groups.length; start++) {
    let length = 0;
    while (groups[start + length] === 0) length++;
    if (length > longest.length) longest = { start, length };
    if (length > 0) start += length - 1;
  }
  const hex = groups.map((group) => group.toString(16));
  if (longest.length < 2) return hex.join(':');
  return `${hex.slice(0, longest.start).join(':')}::${hex.slice(longest.start + longest.length).join(':')}`;
}
