import { connect, isIP, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import type { Logger } from '@sluice/platform';
import type { ISocketFactory, Logger as KafkajsLogger } from 'kafkajs';
import kafkajs from 'kafkajs';
import { BrokerConnection, type ConnectionIndex, type ProtocolRequest } from './kafkajs-internals.ts';
import { kafkajsLogger } from './kafkajs-logger.ts';
import { type BrokerAddress, metadataRequest, type TopicMetadata } from './metadata-request.ts';
import { BusSetupError, type KafkaConnection, saslOptions } from './options.ts';

const connectTimeoutMs = 3_000;
/** A broker that takes longer to answer is considered gone. */
const requestTimeoutMs = 10_000;

interface ConnectedBroker {
  readonly address: string;
  readonly connection: BrokerConnection;
  readonly sockets: Sockets;
}

/**
 * Which of a broker's two connections to use. A broker answers the requests of one connection in order, so fetches, which
 * wait for records, have their own.
 */
export const connectionFor = { requests: 0, fetches: 1 } as const satisfies Record<string, ConnectionIndex>;

/**
 * The brokers of the cluster and the connections to them. The cluster client of kafkajs cannot be used: its metadata
 * request fails for all partitions while one has no leader.
 */
export class Brokers {
  readonly #options: KafkaConnection;
  readonly #logger: KafkajsLogger;
  readonly #connected = new Map<number, ConnectedBroker>();
  /** All open sockets, including those of bootstrap addresses. */
  readonly #sockets = new Set<Sockets>();
  #addresses = new Map<number, string>();
  #reachable = true;
  #closed = false;

  constructor(options: KafkaConnection, logger: Logger) {
    this.#options = options;
    this.#logger = new kafkajs.Kafka({ ...kafkajsLogger(logger), brokers: [...options.brokers] }).logger();
  }

  /** False from a metadata request that no broker answered until one answers. After each failure a caller sends such a request. */
  get reachable(): boolean {
    return this.#reachable;
  }

  /** Tries the known brokers, then the bootstrap addresses, until one answers. */
  async metadata(topics: readonly string[]): Promise<readonly TopicMetadata[]> {
    try {
      const found = await this.#metadata(topics);
      this.#reachable = true;
      return found;
    } catch (error) {
      this.#reachable = false;
      throw error;
    }
  }

  async #metadata(topics: readonly string[]): Promise<readonly TopicMetadata[]> {
    const known = [...this.#addresses.keys()];
    let failure: unknown;
    for (const nodeId of known) {
      try {
        return this.#update(await this.send(nodeId, metadataRequest(topics)));
      } catch (error) {
        failure = error;
      }
    }
    for (const address of this.#options.brokers) {
      const broker = this.#open(address);
      try {
        await broker.connection.connect();
        return this.#update(await broker.connection.send(metadataRequest(topics), connectionFor.requests));
      } catch (error) {
        failure = error;
      } finally {
        this.#destroy(broker, 'bootstrap is complete');
      }
    }
    throw failure;
  }

  async send<T>(
    nodeId: number,
    request: ProtocolRequest<T>,
    index: ConnectionIndex = connectionFor.requests,
  ): Promise<T> {
    return await this.#use(nodeId, (connection) => connection.send(request, index));
  }

  /** `timestamp` -2 asks for the log start offset, -1 for the high watermark. */
  async listOffset(nodeId: number, topic: string, partition: number, timestamp: '-2' | '-1'): Promise<number> {
    return await this.#use(nodeId, (connection) => connection.listOffset(topic, partition, timestamp));
  }

  close(): void {
    this.#closed = true;
    for (const sockets of this.#sockets) sockets.destroy('the bus is closed');
  }

  async #use<T>(nodeId: number, send: (connection: BrokerConnection) => Promise<T>): Promise<T> {
    const address = this.#addresses.get(nodeId);
    if (address === undefined) throw new Error(`broker ${nodeId} is not in the cluster metadata`);
    let broker = this.#connected.get(nodeId);
    if (broker?.address !== address) {
      if (broker !== undefined) this.#destroy(broker, 'the broker has a new address');
      broker = this.#open(address);
      this.#connected.set(nodeId, broker);
    }
    try {
      await broker.connection.connect();
      return await send(broker.connection);
    } catch (error) {
      if (!isConnectionFailure(error)) throw error;
      // The other connection is probably broken too, and kafkajs would keep one that hangs.
      if (this.#connected.get(nodeId) === broker) this.#connected.delete(nodeId);
      this.#destroy(broker, 'another request to this broker failed');
      throw error;
    }
  }

  #open(address: string): ConnectedBroker {
    if (this.#closed) throw new Error('the bus is closed');
    const sockets = new Sockets();
    this.#sockets.add(sockets);
    const { clientId, secrets = () => this.#options } = this.#options;
    const { tls, sasl } = secrets();
    const connection = new BrokerConnection({
      ...parseAddress(address),
      clientId,
      logger: this.#logger,
      socketFactory: sockets.factory,
      connectTimeoutMs,
      requestTimeoutMs,
      tls,
      sasl: sasl && saslOptions(sasl),
    });
    return { address, connection, sockets };
  }

  #destroy({ sockets }: ConnectedBroker, reason: string): void {
    sockets.destroy(reason);
    this.#sockets.delete(sockets);
  }

  #update({ brokers, topics }: { brokers: readonly BrokerAddress[]; topics: readonly TopicMetadata[] }) {
    this.#addresses = new Map(brokers.map(({ nodeId, host, port }) => [nodeId, formatAddress(host, port)]));
    for (const [nodeId, broker] of this.#connected) {
      if (this.#addresses.has(nodeId)) continue;
      this.#destroy(broker, 'the broker has left the cluster');
      this.#connected.delete(nodeId);
    }
    return topics;
  }
}

/** True unless the broker answered with an error code. The fate of the request is unknown then. */
function isConnectionFailure(error: unknown): boolean {
  return error instanceof Error && !(error instanceof kafkajs.KafkaJSProtocolError);
}

/** @throws BusSetupError unless it is `host:port`, with an IPv6 host in brackets */
export function parseAddress(address: string): { readonly host: string; readonly port: number } {
  const match = /^(?:\[([^\]]+)\]|([^:[\]]+)):(\d{1,5})$/.exec(address);
  const host = match?.[1] ?? match?.[2];
  if (host === undefined) throw new BusSetupError('BUS_OPTIONS', `Kafka broker "${address}": write it as host:port`);
  return { host, port: Number(match?.[3]) };
}

function formatAddress(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

/** The log of a partition holds Kafka's offsets from `logStart` to before `highWatermark`. */
export interface OffsetRange {
  readonly logStart: number;
  readonly highWatermark: number;
}

/** Rejects while a new leader does not know its high watermark yet. */
export async function listOffsets(
  brokers: Brokers,
  leader: number,
  topic: string,
  partition: number,
): Promise<OffsetRange> {
  const [logStart, highWatermark] = await Promise.all([
    brokers.listOffset(leader, topic, partition, '-2'),
    brokers.listOffset(leader, topic, partition, '-1'),
  ]);
  return { logStart, highWatermark };
}

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
