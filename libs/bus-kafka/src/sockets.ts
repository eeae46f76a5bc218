import { connect, isIP, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import type { ISocketFactory } from 'kafkajs';

/**
 * The sockets of one connection pool, so that it can be ended at once: kafkajs itself waits for what is in flight, and a
 * broker that hangs never answers that.
 */
export class Sockets {
  readonly #open = new Set<Socket>();

  readonly factory: ISocketFactory = ({ host, port, ssl, onConnect }) => {
    const socket = this.#connect(host, port, ssl, onConnect);
    // kafkajs writes whole requests.
    socket.setNoDelay(true);
    socket.setKeepAlive(true, 30_000);
    this.#open.add(socket);
    socket.once('close', () => this.#open.delete(socket));
    return socket;
  };

  /** kafkajs notices an error, not a mere close: with it, all that is in flight is rejected. */
  destroy(reason: string): void {
    for (const socket of this.#open) socket.destroy(new Error(reason));
  }

  #connect(host: string, port: number, ssl: ConnectionOptions | null, onConnect: () => void): Socket {
    if (!ssl) return connect({ host, port }, onConnect);
    const servername = isIP(host) === 0 ? { servername: host } : {};
    return connectTls({ host, port, ...servername, ...ssl }, onConnect);
  }
}
