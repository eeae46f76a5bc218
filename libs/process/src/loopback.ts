import { BlockList, isIP } from 'node:net';

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/**
 * Whether a host name or IP address, as in a URL, a bind address or the header `Host` without its port, is of this machine.
 * Other names may resolve to any address, so they never are.
 */
export function isLoopback(host: string): boolean {
  const name = host.toLowerCase().replace(/^\[(.*)\]$/, '$1');
  const version = isIP(name);
  return version === 0 ? name === 'localhost' : loopback.check(name, version === 4 ? 'ipv4' : 'ipv6');
}

/** The host of a header `Host`: without its port; an IPv6 address keeps its brackets. */
export const hostOfHeader = (header: string | undefined): string => (header ?? '').replace(/:\d*$/, '').toLowerCase();
