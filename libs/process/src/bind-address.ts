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
