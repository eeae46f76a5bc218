import { connect as connectPlain } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { type Clock, type TlsMaterial, tlsProblem } from '@sluice/platform';
import { hostOf, isName, serverIdentity } from './server-identity.ts';

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
