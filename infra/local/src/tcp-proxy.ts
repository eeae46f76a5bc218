import { type AddressInfo, createServer, type Server, Socket } from 'node:net';
import { Pipe } from './pipe.ts';

/** Requests go from clients to the server, responses from the server to clients. */
export type Direction = 'requests' | 'responses';

const host = '127.0.0.1';

/**
 * A TCP proxy that can block one direction, like a network that loses packets one way only. What is sent meanwhile arrives
 * later, because TCP sends lost packets again, even after the sender has given up. A connection opened meanwhile is
 * established later, because that takes packets in both directions.
 */
export class TcpProxy {
  readonly #serverPort: number;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #pipes = new Map<Direction, Set<Pipe>>([
    ['requests', new Set()],
    ['responses', new Set()],
  ]);
  readonly #blocked = new Set<Direction>();
  #replacedPorts: ReadonlyMap<number, number> = new Map();
  #dial: (() => void)[] = [];

  private constructor(serverPort: number) {
    this.#serverPort = serverPort;
    this.#server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => this.#accept(client));
  }

  /** Listens on a free port, in front of a port of loopback. */
  static async listen(serverPort: number): Promise<TcpProxy> {
    const proxy = new TcpProxy(serverPort);
    await new Promise<void>((resolve, reject) => {
      proxy.#server.once('error', reject);
      proxy.#server.listen(0, host, resolve);
    });
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /**
   * Replaces ports in responses of new connections by others with as many digits: a sentinel names the other servers, to
   * which clients then connect.
   */
  replacePorts(ports: ReadonlyMap<number, number>): void {
    this.#replacedPorts = ports;
  }

  block(direction: Direction): void {
    this.#blocked.add(direction);
    for (const pipe of this.#pipes.get(direction) ?? []) pipe.hold();
  }

  unblock(direction: Direction): void {
    this.#blocked.delete(direction);
    for (const pipe of this.#pipes.get(direction) ?? []) pipe.release();
    if (this.#blocked.size > 0) return;
    for (const dial of this.#dial.splice(0)) dial();
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  #accept(client: Socket): void {
    const server = new Socket({ allowHalfOpen: true }).setNoDelay(true);
    for (const socket of [client, server]) {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    }
    const requests = new Pipe(client, server);
    const responses = new Pipe(server, client, this.#replacedPorts);
    const dial = () => {
      // A connection that was never established has carried nothing.
      if (client.destroyed || client.readableEnded) {
        server.destroy();
        client.destroy();
        return;
      }
      server.connect(this.#serverPort, host);
      this.#add('requests', requests, server);
      this.#add('responses', responses, client);
      requests.release();
      responses.release();
    };
    if (this.#blocked.size === 0) return dial();
    requests.hold();
    responses.hold();
    this.#dial.push(dial);
  }

  #add(direction: Direction, pipe: Pipe, to: Socket): void {
    const pipes = this.#pipes.get(direction);
    pipes?.add(pipe);
    to.once('close', () => pipes?.delete(pipe));
  }
}
