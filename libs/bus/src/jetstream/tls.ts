import { connect as connectPlain } from 'node:net';
import { checkServerIdentity, connect as connectTls, type PeerCertificate } from 'node:tls';
import { type Clock, type TlsMaterial, tlsProblem } from '@sluice/platform';

/** The host of a server's address, without the brackets of IPv6. */
function hostOf(server: string): string {
  return new URL(server.includes('://') ? server : `nats://${server}`).hostname.replace(/^\[|\]$/g, '');
}

function isName(host: string): boolean {
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

const timeoutMs = 2000;
const defaultPort = 4222;

/**
 * Performs the TLS handshake as the NATS client does, and returns the problem if the server rejects the client certificate.
 * With TLS 1.3 the server rejects it only after the client has completed the handshake, and the NATS client then reports
 * nothing but a timeout.
 */
export function probeTls(server: string, material: TlsMaterial, clock: Clock): Promise<string | undefined> {
  const { port } = new URL(server.includes('://') ? server : `nats://${server}`);
  const host = hostOf(server);
  return new Promise((resolve) => {
    const plain = connectPlain({ host, port: Number(port || defaultPort) });
    const finish = (problem: string | undefined) => {
      cancel();
      plain.destroy();
      resolve(problem);
    };
    const cancel = clock.schedule(timeoutMs, () => finish(undefined));
    plain.on('error', () => finish(undefined));
    // The server sends INFO in plain text, then both sides switch to TLS.
    plain.once('data', () => {
      plain.removeAllListeners('data');
      const servername = isName(host) ? host : '';
      const secure = connectTls({ socket: plain, servername, ...serverIdentity([server]), ...material });
      secure.on('error', (error) => finish(tlsProblem(error)));
      secure.on('close', () => finish(undefined));
      // Any reply means that the server accepts the certificate.
      secure.on('data', () => finish(undefined));
      secure.write('PING\r\n');
    });
  });
}
