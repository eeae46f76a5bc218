import type { Logger } from '@sluice/runtime';
import kafkajs, { type Logger as KafkajsLogger } from 'kafkajs';
import Broker from 'kafkajs/src/broker/index.js';
import ConnectionPool from 'kafkajs/src/network/connectionPool.js';
import { BusSetupError } from './errors.ts';
import { kafkajsLogger } from './kafkajs-logger.ts';
import { type BrokerAddress, metadataRequest, type TopicMetadata } from './metadata-request.ts';
import { type KafkaConnection, saslOptions } from './options.ts';
import type { ProtocolRequest } from './protocol.ts';
import { Sockets } from './sockets.ts';

const connectionTimeout = 3_000;
/** A broker that has not answered by then is taken for gone. */
const requestTimeout = 10_000;

/** A broker with its own connections. */
interface Member {
  readonly address: string;
  readonly broker: Broker;
  readonly sockets: Sockets;
}

/** Which of a broker's two connections: it answers the requests of one in their order, so those that wait have their own. */
export const connection = { quick: 0, waiting: 1 } as const;

/**
 * The brokers of the cluster and their connections. kafkajs has the protocol, TLS and SASL; its own pool would let one
 * partition without a leader keep all others from being found.
 */
export class Brokers {
  readonly #connection: KafkaConnection;
  readonly #logger: KafkajsLogger;
  readonly #seeds: readonly string[];
  readonly #members = new Map<number, Member>();
  /** All that are open, also those of addresses that were only asked for the brokers. */
  readonly #sockets = new Set<Sockets>();
  #addresses = new Map<number, string>();
  #closed = false;

  constructor(connection: KafkaConnection, logger: Logger) {
    this.#connection = connection;
    this.#seeds = connection.brokers;
    this.#logger = new kafkajs.Kafka({ ...kafkajsLogger(logger), brokers: [...connection.brokers] }).logger();
  }

  /** Asks one broker after the other until one answers. */
  async metadata(topics: readonly string[]): Promise<readonly TopicMetadata[]> {
    const known = [...this.#addresses.keys()];
    let failure: unknown;
    for (const nodeId of known) {
      try {
        return this.#learn(await this.send(nodeId, metadataRequest(topics)));
      } catch (error) {
        failure = error;
      }
    }
    for (const seed of this.#seeds) {
      const member = this.#member(seed);
      try {
        await member.broker.connect();
        return this.#learn(await send(member, metadataRequest(topics), connection.quick));
      } catch (error) {
        failure = error;
      } finally {
        this.#destroy(member, 'the address was only asked for the brokers');
      }
    }
    throw failure;
  }

  async send<T>(nodeId: number, request: ProtocolRequest<T>, which: 0 | 1 = connection.quick): Promise<T> {
    return await this.#with(nodeId, (member) => send(member, request, which));
  }

  /** For the requests that kafkajs has methods for. */
  async ask<T>(nodeId: number, question: (broker: Broker) => Promise<T>): Promise<T> {
    return await this.#with(nodeId, ({ broker }) => question(broker));
  }

  close(): void {
    this.#closed = true;
    for (const sockets of this.#sockets) sockets.destroy('the bus is closed');
  }

  async #with<T>(nodeId: number, use: (member: Member) => Promise<T>): Promise<T> {
    const address = this.#addresses.get(nodeId);
    if (address === undefined) throw new Error(`broker ${nodeId} is not among those of the cluster`);
    let member = this.#members.get(nodeId);
    if (member?.address !== address) {
      if (member !== undefined) this.#destroy(member, 'the broker has another address');
      member = this.#member(address);
      this.#members.set(nodeId, member);
    }
    try {
      await member.broker.connect();
      return await use(member);
    } catch (error) {
      if (!isConnectionFailure(error)) throw error;
      // Its other connection is no better, and kafkajs would keep one that hangs.
      if (this.#members.get(nodeId) === member) this.#members.delete(nodeId);
      this.#destroy(member, 'another request to this broker failed');
      throw error;
    }
  }

  #member(address: string): Member {
    if (this.#closed) throw new Error('the bus is closed');
    const sockets = new Sockets();
    this.#sockets.add(sockets);
    const { host, port } = parseAddress(address);
    const { clientId, tls, sasl } = this.#connection;
    const connectionPool = new ConnectionPool({
      host,
      port,
      logger: this.#logger,
      socketFactory: sockets.factory,
      clientId,
      connectionTimeout,
      requestTimeout,
      enforceRequestTimeout: true,
      ssl: tls ?? null,
      sasl: sasl === undefined ? null : saslOptions(sasl),
    });
    const broker = new Broker({ connectionPool, logger: this.#logger, authenticationTimeout: requestTimeout });
    return { address, broker, sockets };
  }

  #destroy({ sockets }: Member, reason: string): void {
    sockets.destroy(reason);
    this.#sockets.delete(sockets);
  }

  #learn({ brokers, topics }: { brokers: readonly BrokerAddress[]; topics: readonly TopicMetadata[] }) {
    this.#addresses = new Map(brokers.map(({ nodeId, host, port }) => [nodeId, formatAddress(host, port)]));
    for (const [nodeId, member] of this.#members) {
      if (this.#addresses.has(nodeId)) continue;
      this.#destroy(member, 'the broker has left the cluster');
      this.#members.delete(nodeId);
    }
    return topics;
  }
}

async function send<T>({ broker }: Member, request: ProtocolRequest<T>, which: 0 | 1): Promise<T> {
  return await (await broker.connectionPool.getConnection(which)).send(request);
}

/** The broker may come back, or did not answer in time; nothing is known of what was asked of it. */
function isConnectionFailure(error: unknown): boolean {
  return error instanceof Error && !('type' in error && typeof error.type === 'string');
}

/** @throws BusSetupError unless it is `host:port`; an IPv6 host stands in brackets */
export function parseAddress(address: string): { readonly host: string; readonly port: number } {
  const match = /^(?:\[([^\]]+)\]|([^:[\]]+)):(\d{1,5})$/.exec(address);
  const host = match?.[1] ?? match?.[2];
  if (host === undefined) throw new BusSetupError('BUS_OPTIONS', `Kafka broker "${address}": write it as host:port`);
  return { host, port: Number(match?.[3]) };
}

function formatAddress(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}
