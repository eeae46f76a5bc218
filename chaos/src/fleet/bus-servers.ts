import { join } from 'node:path';
import { freePorts, type Kafka, type Nats, startKafka, startNats } from '@sluice/local';
import type { Network } from '../network/network.ts';
import { type Access, nodeName, type ServerNode, type Servers, serverDirectory } from './server-node.ts';
import { Target } from './target.ts';

export interface BusNode extends ServerNode {
  readonly directory: string;
  /** The folder with all data of the server. */
  readonly data: string;
}

interface NatsServers extends Servers<BusNode> {
  readonly kind: 'nats';
  /** URLs, which no fault cuts off. */
  readonly addresses: readonly string[];
}

interface KafkaServers extends Servers<BusNode> {
  readonly kind: 'kafka';
  /** Addresses of brokers, which no fault cuts off. */
  readonly addresses: readonly string[];
  readonly topics: typeof topics;
}

export type BusServers = NatsServers | KafkaServers;

export interface BusOptions {
  readonly directory: string;
  readonly bus: 'nats' | 'kafka';
  readonly natsNodes: 1 | 3;
  readonly disks: boolean;
  readonly network: Network;
  /** Names of the clients. */
  readonly clients: readonly string[];
}

/** Short, so that an outage can exceed it. The lease duration keeps its default. */
export const duplicateWindowMs = 2_000;

/** Small, so that many plans travel in chunks. */
const maxPayload = 8 * 1024;
const topics = { replicationFactor: 1, minInsyncReplicas: 1, maxMessageBytes: 16 * 1024 };

/** Kafka starts in seconds, but takes a minute on a machine busy with a whole fleet. */
const kafkaReadyMs = 180_000;

/** @throws LocalError and leaves nothing running */
export function startBus(options: BusOptions): Promise<BusServers> {
  return options.bus === 'nats' ? startNatsServers(options) : startBroker(options);
}

async function startNatsServers({ directory, natsNodes, disks, network, clients }: BusOptions): Promise<BusServers> {
  const routePorts = await freePorts(natsNodes);
  const routes = routePorts.map((port) => `"nats://127.0.0.1:${port}"`).join(', ');
  const places = routePorts.map((_, index) => serverDirectory(directory, `nats-${index + 1}`, disks));
  const stop = async (servers: readonly Nats[]) => {
    await Promise.all(servers.map(({ process }) => process.kill()));
    for (const { disk } of places) disk?.remove();
  };
  const starting = await Promise.allSettled(
    places.map((place, index) =>
      startNats({
        directory: place.directory,
        name: `bus-${index + 1}`,
        maxPayload,
        // Clients use their own links only.
        ...(natsNodes > 1 && {
          configuration: `cluster { name: chaos, listen: "127.0.0.1:${routePorts[index]}", routes: [${routes}], no_advertise: true }`,
        }),
      }),
    ),
  );
  const servers = starting.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  const failed = starting.find((result) => result.status === 'rejected');
  if (failed !== undefined) {
    await stop(servers);
    throw failed.reason;
  }
  const access = new Map<string, Access>();
  for (const client of clients) {
    const links = await Promise.all(servers.map(({ url }) => network.link(Number(new URL(url).port))));
    const settings = {
      servers: links.map((port) => `nats://127.0.0.1:${port}`),
      replicas: natsNodes,
      duplicateWindow: `${duplicateWindowMs}ms`,
    };
    access.set(client, { settings, links });
  }
  const nodes = servers.map((server, index) => {
    const start = async () => {
      await server.process.start();
      await server.ready();
    };
    return {
      target: new Target(nodeName('bus', index, natsNodes), server.process, start),
      directory: server.directory,
      data: join(server.directory, 'data'),
      log: server.process.command.log,
      disk: places[index]?.disk,
    };
  });
  return { kind: 'nats', nodes, access, addresses: servers.map(({ url }) => url), stop: () => stop(servers) };
}

/** Each client has its own listener, because a broker names its address to clients. */
async function startBroker({ directory, disks, network, clients }: BusOptions): Promise<BusServers> {
  const place = serverDirectory(directory, 'kafka', disks);
  const listeners = await Promise.all(
    (await freePorts(clients.length)).map(async (port) => ({ port, advertisedPort: await network.link(port) })),
  );
  let kafka: Kafka;
  try {
    kafka = await startKafka({
      directory: place.directory,
      readyTimeoutMilliseconds: kafkaReadyMs,
      additionalListeners: listeners,
    });
  } catch (error) {
    place.disk?.remove();
    throw error;
  }
  const access = new Map<string, Access>();
  for (const [index, client] of clients.entries()) {
    const link = listeners[index]?.advertisedPort ?? 0;
    const servers = [`kafka://127.0.0.1:${link}`];
    const { replicationFactor: replicas, minInsyncReplicas, maxMessageBytes } = topics;
    const settings = { servers, replicas, minInsyncReplicas, maxMessageBytes: `${maxMessageBytes / 1024}Ki` };
    access.set(client, { settings, links: [link] });
  }
  const start = async () => {
    await kafka.process.start();
    await kafka.ready();
  };
  const target = new Target('bus', kafka.process, start);
  const log = kafka.process.command.log;
  return {
    kind: 'kafka',
    nodes: [{ target, directory: kafka.directory, data: kafka.data, log, disk: place.disk }],
    access,
    addresses: [kafka.broker],
    topics,
    async stop() {
      await kafka.process.kill();
      place.disk?.remove();
    },
  };
}
