import { createServer, type ListenOptions, type Server } from 'node:net';
import { LocalError } from './local-error.ts';

/** Below the ports that systems choose for connections and for port 0: Linux from 32768, others from 49152. */
const [first, count] = [12_000, 20_000];
/** Another program may take a port before the server does. */
const ATTEMPTS = 3;

let next = Math.floor(Math.random() * count);

/** Starts a server on `wanted` free loopback ports. Tries other ports if one is taken meanwhile. */
export async function onFreePorts<T>(wanted: number, start: (ports: readonly number[]) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await start(await freePorts(wanted));
    } catch (error) {
      const taken = error instanceof LocalError && /address already in use/i.test(error.message);
      if (!taken || attempt === ATTEMPTS) throw error;
    }
  }
}

/** Distinct loopback ports on which nothing listens. No other process gets them from this function while this one runs. */
export async function freePorts(wanted: number): Promise<readonly number[]> {
  const ports: number[] = [];
  for (let tried = 0; ports.length < wanted; tried += 1) {
    if (tried === count)
      throw new LocalError('not-ready', `no free loopback port from ${first} to ${first + count - 1}`);
    const port = first + (next++ % count);
    if ((await claim(port)) && (await isFree(port))) ports.push(port);
  }
  return ports;
}

/** An abstract socket belongs to the network namespace, as ports do, and ends with its process. Only Linux has them. */
async function claim(port: number): Promise<boolean> {
  if (process.platform !== 'linux') return true;
  const claimed = await listen({ path: `\0sluice-port-${port}` });
  claimed?.unref();
  return claimed !== undefined;
}

async function isFree(port: number): Promise<boolean> {
  const server = await listen({ port, host: '127.0.0.1' });
  await new Promise<unknown>((resolve) => (server ? server.close(resolve) : resolve(undefined)));
  return server !== undefined;
}

/** @returns undefined if the address is taken */
function listen(options: ListenOptions): Promise<Server | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? resolve(undefined) : reject(error),
    );
    server.listen(options, () => resolve(server));
  });
}
