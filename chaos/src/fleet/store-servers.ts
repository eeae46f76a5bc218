import { join } from 'node:path';
import type { SmallDisk } from '@sluice/conformance';
import { type RedisServer, startRedis, startRedisSentinel } from '@sluice/local';
import type { Network } from '../network/network.ts';
import { type Access, nodeName, type ServerNode, type Servers, serverDirectory } from './server-node.ts';
import { Target } from './target.ts';

export interface StoreNode extends ServerNode {
  readonly redis: RedisServer;
}

export interface StoreServers extends Servers<StoreNode> {
  master(): Promise<RedisServer>;
  /** Requests a failover and waits for it. Only with Sentinel. */
  failOver(): Promise<void>;
}

export interface StoreOptions {
  readonly directory: string;
  readonly sentinel: boolean;
  readonly disks: boolean;
  readonly network: Network;
  /** Names of the clients. */
  readonly clients: readonly string[];
}

/** @throws LocalError and leaves nothing running */
export function startStore(options: StoreOptions): Promise<StoreServers> {
  return options.sentinel ? startWithSentinel(options) : startOne(options);
}

async function startOne({ directory, disks, network, clients }: StoreOptions): Promise<StoreServers> {
  const { directory: place, disk } = serverDirectory(directory, 'redis', disks);
  const redis = await startRedis({ directory: place }).catch((error: unknown) => {
    disk?.remove();
    throw error;
  });
  const access = new Map<string, Access>();
  for (const client of clients) {
    const link = await network.link(redis.port);
    access.set(client, { settings: { url: [`redis://127.0.0.1:${link}`] }, links: [link] });
  }
  return {
    nodes: [nodeOf(redis, disk, 0, 1)],
    access,
    master: async () => redis,
    failOver: () => Promise.reject(new Error('there is no replica')),
    async stop() {
      await redis.process.kill();
      disk?.remove();
    },
  };
}

async function startWithSentinel({ directory, disks, network, clients }: StoreOptions): Promise<StoreServers> {
  const places = [serverDirectory(directory, 'redis-1', disks), serverDirectory(directory, 'redis-2', disks)] as const;
  const removeDisks = () => {
    for (const { disk } of places) disk?.remove();
  };
  const sentinel = await startRedisSentinel({
    directory: join(directory, 'sentinel'),
    directories: [places[0].directory, places[1].directory],
    sentinels: 3,
    // As in docs/guides/redis.md. Without the delay, a replica is in sync soon after a failover.
    settings: { 'min-replicas-to-write': '1', 'repl-diskless-sync-delay': '0' },
  }).catch((error: unknown) => {
    removeDisks();
    throw error;
  });
  const { servers, sentinels, masterName } = sentinel;
  const ports = [...servers.map(({ port }) => port), ...sentinels.map(({ url }) => Number(new URL(url).port))];
  const access = new Map<string, Access>();
  for (const client of clients) {
    const links = await Promise.all(ports.map((port) => network.link(port)));
    const toSentinels = links.slice(servers.length);
    // Sentinels name the addresses of servers and other sentinels; this client reaches them through its links.
    network.replacePorts(toSentinels, new Map(ports.map((port, index) => [port, links[index] ?? port])));
    const url = toSentinels.map((port) => `redis://127.0.0.1:${port}`);
    access.set(client, { settings: { url, mode: 'sentinel', masterName }, links });
  }
  return {
    nodes: servers.map((redis, index) => nodeOf(redis, places[index]?.disk, index, servers.length)),
    access,
    master: () => sentinel.master(),
    failOver: () => sentinel.failover(),
    async stop() {
      await Promise.all([...servers, ...sentinels].map(({ process }) => process.kill()));
      removeDisks();
    },
  };
}

function nodeOf(redis: RedisServer, disk: SmallDisk | undefined, index: number, count: number): StoreNode {
  // `restart` kills first, which has no effect on a process that has exited.
  const target = new Target(nodeName('store', index, count), redis.process, () => redis.restart());
  return { target, redis, disk, log: redis.process.command.log };
}
