import { connect, isIP, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import type { ISocketFactory } from 'kafkajs';

/**
 * The sockets of one broker connection, so that they can be destroyed at once. kafkajs waits for the requests in flight
 * when it disconnects, and a hung broker never answers those.
 */
export class Sockets {
  readonly #open = new Set<Socket>();

  readonly factory: ISocketFactory = ({ host, port, ssl, onConnect }) => {
    const socket = this.#connect(host, port, ssl, onConnect);
    // kafkajs writes each request in one piece.
    socket.setNoDelay(true);
    socket.setKeepAlive(true, 30_000);
    this.#open.add(socket);
    socket.once('close', () => this.#open.delete(socket));
    return socket;
  };

  /** Passes an error: kafkajs rejects the requests in flight on an error, but not on a mere close. */
  destroy(reason: string): void {
    for (const socket of this.#open) socket.destroy(new Error(reason));
  }

  #connect(host: string, port: number, ssl: ConnectionOptions | null, onConnect: () => void): Socket {
    if (!ssl) return connect({ host, port }, onConnect);
    const servername = isIP(host) === 0 ? { servername: host } : {};
    return connectTls({ host, port, ...servername, ...ssl }, onConnect);
  }
}
