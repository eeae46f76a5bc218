import { BlockList, isIP } from 'node:net';
import { InvalidArgumentError } from 'commander';

/** An address to listen on. An empty host means all interfaces; port 0 means any free port. */
export interface BindAddress {
  readonly host: string;
  readonly port: number;
}

/** Next to the ports of Kubernetes' own components (10248–10260). */
export const defaultBindAddress: BindAddress = { host: '127.0.0.1', port: 10270 };

/** Parses `host:port`, `[ipv6]:port` or `:port`, as Kubernetes components do. Returns null for `0`: do not listen. */
export function parseBindAddress(text: string): BindAddress | null {
  if (text === '0') return null;
  const parts = /^(?:\[(?<ipv6>[0-9A-Fa-f:.]+)\]|(?<name>[^:[\]\s/]*)):(?<port>\d{1,5})$/.exec(text)?.groups;
  const port = Number(parts?.port);
  if (parts === undefined || port > 65_535) {
    throw new InvalidArgumentError(
      `"${text}" is not a bind address; expected for example 127.0.0.1:10270, [::1]:10270 or :10270 for all interfaces, or 0 to disable`,
    );
  }
  return { host: parts.ipv6 ?? parts.name ?? '', port };
}

export function formatBindAddress({ host, port }: BindAddress): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

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
