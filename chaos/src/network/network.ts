import { once } from 'node:events';
import { MessageChannel, Worker } from 'node:worker_threads';
import type { Direction } from '@sluice/local';
import type { NetworkReply, NetworkRequest } from './network-worker.ts';

/** Proxies in a thread of their own, so that a busy event loop here delays nothing. */
export class Network {
  readonly #worker = new Worker(new URL('./network-worker.ts', import.meta.url));

  /** Returns the port of a new proxy in front of a port on loopback. */
  async link(port: number): Promise<number> {
    const { port1: mine, port2: theirs } = new MessageChannel();
    const request: NetworkRequest = { kind: 'link', port, reply: theirs };
    const replied = once(mine, 'message');
    this.#worker.postMessage(request, [theirs]);
    const [message] = (await replied) as [NetworkReply];
    mine.close();
    return message.port;
  }

  /** See TcpProxy. */
  replacePorts(links: readonly number[], ports: ReadonlyMap<number, number>): void {
    this.#send({ kind: 'replacePorts', links, ports });
  }

  /** Blocks one direction of these links until `unblock`. */
  block(links: readonly number[], direction: Direction): void {
    this.#send({ kind: 'block', links, direction });
  }

  unblock(links: readonly number[], direction: Direction): void {
    this.#send({ kind: 'unblock', links, direction });
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }

  #send(request: NetworkRequest): void {
    this.#worker.postMessage(request);
  }
}
