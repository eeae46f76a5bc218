import { checkServerIdentity, type PeerCertificate } from 'node:tls';

/** The host of a server's address, without the brackets of IPv6. */
export function hostOf(server: string): string {
  return new URL(server.includes('://') ? server : `nats://${server}`).hostname.replace(/^\[|\]$/g, '');
}

export function isName(host: string): boolean {
  return !/^[\d.]+$|:/.test(host);
}

/**
 * TLS options that compare the certificate of a server with the IP addresses in `servers`. The NATS client passes no name for
 * such a server, and Node then expects a certificate for `localhost`.
 */
export function serverIdentity(servers: readonly string[]): {
  readonly checkServerIdentity?: (host: string, certificate: PeerCertificate) => Error | undefined;
} {
  const hosts = servers.map(hostOf);
  const addresses = hosts.filter((host) => !isName(host));
  if (addresses.length === 0 || hosts.includes('localhost')) return {};
  return {
    checkServerIdentity(host, certificate) {
      if (host !== 'localhost') return checkServerIdentity(host, certificate);
      const problems = addresses.map((address) => checkServerIdentity(address, certificate));
      return problems.includes(undefined) ? undefined : problems[0];
    },
  };
}
