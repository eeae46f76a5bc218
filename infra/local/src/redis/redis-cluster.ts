import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { LocalError } from '../local-error.ts';
import { READY_TIMEOUT_MILLISECONDS } from '../server-process.ts';
import { type RedisServer, type RedisServerOptions, startRedis } from './redis-server.ts';

export interface RedisCluster {
  /** Three masters with a third of the slots each, without replicas. */
  readonly nodes: readonly RedisServer[];
  /** Waits until every node reports all slots as served, for example after a restart. */
  ready(): Promise<void>;
  stop(): Promise<void>;
}

const SLOTS = 16_384;
const MASTERS = 3;

/** Starts a Redis Cluster on loopback. @throws LocalError as `startRedis`, and leaves nothing running */
export async function startRedisCluster(
  options: Omit<RedisServerOptions, 'cluster' | 'tls' | 'name'>,
): Promise<RedisCluster> {
  const nodes: RedisServer[] = [];
  const stop = async () => {
    await Promise.all(nodes.map((node) => node.stop()));
  };
  try {
    for (let index = 0; index < MASTERS; index += 1) {
      const name = `redis-${index + 1}`;
      nodes.push(await startRedis({ ...options, directory: join(options.directory, name), name, cluster: true }));
    }
    await introduce(nodes);
    await ready(nodes);
  } catch (error) {
    await stop();
    throw error;
  }
  return { nodes, ready: () => ready(nodes), stop };
}

async function introduce(nodes: readonly RedisServer[]): Promise<void> {
  for (const [index, node] of nodes.entries()) {
    const client = node.connect();
    try {
      const from = Math.floor((index * SLOTS) / nodes.length);
      const to = Math.floor(((index + 1) * SLOTS) / nodes.length) - 1;
      await client.call('CLUSTER', 'ADDSLOTSRANGE', from, to);
      // Distinct config epochs, so that the nodes need not resolve a conflict.
      await client.call('CLUSTER', 'SET-CONFIG-EPOCH', index + 1);
      for (const other of nodes.slice(0, index)) {
        await client.call('CLUSTER', 'MEET', other.host, other.port, other.busPort ?? 0);
      }
    } finally {
      client.disconnect();
    }
  }
}

async function ready(nodes: readonly RedisServer[]): Promise<void> {
  const deadline = performance.now() + READY_TIMEOUT_MILLISECONDS;
  for (const node of nodes) {
    const client = node.connect();
    try {
      for (;;) {
        const info = String(await client.call('CLUSTER', 'INFO'));
        if (info.includes('cluster_state:ok') && info.includes(`cluster_known_nodes:${nodes.length}`)) break;
        if (performance.now() > deadline) throw new LocalError('not-ready', `Redis Cluster not ready\n${info}`);
        await sleep(50);
      }
    } finally {
      client.disconnect();
    }
  }
}
