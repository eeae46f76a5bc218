import { createServer, connect as open, type Server, type Socket } from 'node:net';

/**
 * A TCP proxy on loopback that fails on demand: it forwards bytes, cuts connections, drops bytes silently or refuses
 * connections. It does not interpret the bytes, so TLS works.
 */
export class FaultyNetwork {
  readonly #target: { readonly host: string; readonly port: number };
  readonly #pairs = new Set<readonly [Socket, Socket]>();
  #server: Server | undefined;
  #port = 0;
  #swallows = false;

  /** `target`: URL of the server; only its host and port are used. */
  constructor(target: string) {
    const { hostname, port, protocol } = new URL(target);
    this.#target = { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || (protocol === 'https:' ? 443 : 80)) };
  }

  /** Number of open connections, including those that drop bytes. */
  get connections(): number {
    return this.#pairs.size;
  }

  /** Accepts connections, always at the same address; resolves to `127.0.0.1:PORT`. */
  async listen(): Promise<string> {
    const server = createServer((client) => this.#accept(client));
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(this.#port, '127.0.0.1', resolve);
    });
    this.#server = server;
    const address = server.address();
    if (address !== null && typeof address === 'object') this.#port = address.port;
    return `127.0.0.1:${this.#port}`;
  }

  /** Cuts all connections and resolves to their number. New connections are accepted. */
  cut(): number {
    const count = this.#pairs.size;
    for (const pair of this.#pairs) for (const socket of pair) socket.resetAndDestroy();
    return count;
  }

  /** Silently drops all bytes, on open and new connections. Closes none. */
  swallow(): void {
    this.#swallows = true;
    for (const [client, server] of this.#pairs) {
      client.unpipe(server).resume();
      server.unpipe(client).resume();
    }
  }

  /** Forwards bytes of new connections again. Connections that dropped bytes stay dead. */
  heal(): void {
    this.#swallows = false;
  }

  /** Cuts open connections and refuses new ones until `listen`. */
  async refuse(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    this.cut();
    if (server !== undefined) await new Promise((resolve) => server.close(resolve));
  }

  #accept(client: Socket): void {
    const server = this.#swallows ? client : open(this.#target);
    const pair = [client, server] as const;
    this.#pairs.add(pair);
    for (const socket of new Set(pair)) {
      socket.on('error', () => {});
      socket.on('close', () => {
        this.#pairs.delete(pair);
        for (const one of pair) one.destroy();
      });
    }
    if (server === client) client.resume();
    else client.pipe(server).pipe(client);
  }
}
