import { createServer, type Server } from 'node:net';
import { LocalError } from './local-error.ts';

/** Another program may take a port before the server does. */
const ATTEMPTS = 3;

/** Starts a server on `count` free loopback ports. Tries other ports if one is taken meanwhile. */
export async function onFreePorts<T>(count: number, start: (ports: readonly number[]) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await start(await freePorts(count));
    } catch (error) {
      const taken = error instanceof LocalError && /address already in use/i.test(error.message);
      if (!taken || attempt === ATTEMPTS) throw error;
    }
  }
}

/** Distinct loopback ports on which nothing listens. */
export async function freePorts(count: number): Promise<readonly number[]> {
  const servers = await Promise.all(Array.from({ length: count }, listen));
  const ports = servers.map((server) => {
    const address = server.address();
    return address !== null && typeof address === 'object' ? address.port : 0;
  });
  await Promise.all(servers.map(close));
  return ports;
}

function listen(): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => resolve(server));
  });
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
  });
}
