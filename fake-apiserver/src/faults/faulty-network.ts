import { createServer, connect as open, type Server, type Socket } from 'node:net';

/**
 * Stands between clients and a server, on loopback, as a network that fails: it passes bytes on, cuts connections, loses all
 * that is sent without telling either side, or lets nobody in. What the bytes say does not matter, so TLS passes as well.
 */
export class FaultyNetwork {
  readonly #target: { readonly host: string; readonly port: number };
  readonly #pairs = new Set<readonly [Socket, Socket]>();
  #server: Server | undefined;
  #port = 0;
  #swallows = false;

  /** `target`: URL of the server; only its host and port matter. */
  constructor(target: string) {
    const { hostname, port, protocol } = new URL(target);
    this.#target = { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || (protocol === 'https:' ? 443 : 80)) };
  }

  /** Connections that are open at this moment, also those on which nothing passes any more. */
  get connections(): number {
    return this.#pairs.size;
  }

  /** Lets clients in, each time at the same address; resolves to `127.0.0.1:PORT`. */
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

  /** Cuts all connections; resolves to how many. New ones are let in. */
  cut(): number {
    const count = this.#pairs.size;
    for (const pair of this.#pairs) for (const socket of pair) socket.resetAndDestroy();
    return count;
  }

  /** From now on nothing that is sent arrives, on new connections neither; none is closed. */
  swallow(): void {
    this.#swallows = true;
    for (const [client, server] of this.#pairs) {
      client.unpipe(server).resume();
      server.unpipe(client).resume();
    }
  }

  /** New connections pass bytes again. Those that were swallowed stay dead: what was lost on them is lost. */
  heal(): void {
    this.#swallows = false;
  }

  /** Connections are refused from now on, until `listen`; those that are open are cut. */
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
