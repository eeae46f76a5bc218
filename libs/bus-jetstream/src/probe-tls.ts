import { connect as connectPlain } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { type Clock, type TlsMaterial, tlsProblem } from '@sluice/runtime';

const patienceMs = 2000;
const defaultPort = 4222;

/**
 * Shakes hands with a server as the library does, and tells in words if it does not want our certificate. With TLS 1.3 a
 * server says so only after our side thinks that all is well, and the library then reports nothing but a timeout.
 */
export function probeTls(server: string, material: TlsMaterial, clock: Clock): Promise<string | undefined> {
  const { hostname, port } = new URL(server.includes('://') ? server : `nats://${server}`);
  const host = hostname.replace(/^\[|\]$/g, '');
  return new Promise((resolve) => {
    const plain = connectPlain({ host, port: Number(port || defaultPort) });
    const settle = (problem: string | undefined) => {
      cancel();
      plain.destroy();
      resolve(problem);
    };
    const cancel = clock.schedule(patienceMs, () => settle(undefined));
    plain.on('error', () => settle(undefined));
    // The server greets in plain text, then both change to TLS.
    plain.once('data', () => {
      plain.removeAllListeners('data');
      const secure = connectTls({ socket: plain, servername: isName(host) ? host : '', ...material });
      secure.on('error', (error) => settle(tlsProblem(error)));
      secure.on('close', () => settle(undefined));
      // Whatever it answers, it has accepted the certificate.
      secure.on('data', () => settle(undefined));
      secure.write('PING\r\n');
    });
  });
}

function isName(host: string): boolean {
  return !/^[\d.]+$|:/.test(host);
}
