import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { freePorts } from '../free-ports.ts';
import { LocalError } from '../local-error.ts';
import { READY_TIMEOUT_MILLISECONDS, ServerProcess } from '../server-process.ts';
import { type RedisServer, type RedisServerOptions, startRedis } from './redis-server.ts';

export interface RedisSentinel {
  /** The sentinels' name for the master. */
  readonly masterName: string;
  readonly sentinels: readonly { readonly url: string; readonly process: ServerProcess }[];
  /** Initially the first is the master and the second its replica. */
  readonly servers: readonly [RedisServer, RedisServer];
  /** The server that is master according to the sentinels. */
  master(): Promise<RedisServer>;
  /** Requests a failover and waits until the former master follows the new one. */
  failover(): Promise<void>;
  /** Waits until `server` is a fully synchronised replica. */
  following(server: RedisServer): Promise<void>;
  stop(): Promise<void>;
}

export interface RedisSentinelOptions extends Omit<RedisServerOptions, 'cluster' | 'tls' | 'name' | 'users'> {
  readonly sentinels: 1 | 2 | 3;
  /** Directories of the two servers. Default: within `directory`. */
  readonly directories?: readonly [string, string];
}

const MASTER = 'sluice';
const DOWN_AFTER_MILLISECONDS = 1000;
const FAILOVER_TIMEOUT_MILLISECONDS = 3_000;

/** Starts a master, a replica and their sentinels on loopback. @throws LocalError and leaves nothing running */
export async function startRedisSentinel(options: RedisSentinelOptions): Promise<RedisSentinel> {
  const { sentinels: count, directory, settings = {} } = options;
  const { directories = [join(directory, 'redis-1'), join(directory, 'redis-2')] } = options;
  const started: { stop(): Promise<void> }[] = [];
  const stop = async () => {
    await Promise.all(started.map((server) => server.stop()));
  };
  try {
    const first = await startRedis({ directory: directories[0], name: 'redis-1', settings });
    started.push(first);
    const follow = { ...settings, replicaof: `127.0.0.1 ${first.port}` };
    const second = await startRedis({ directory: directories[1], name: 'redis-2', settings: follow });
    started.push(second);
    await following(second);
    const ports = await freePorts(count);
    const sentinels = ports.map((port, index) =>
      sentinel(join(directory, `sentinel-${index + 1}`), port, first, Math.floor(count / 2) + 1),
    );
    for (const { process } of sentinels) {
      started.push(process);
      await process.start();
    }
    await until('the sentinels to discover each other and the replica', async () => {
      const views = await Promise.all(ports.map((port) => query(port, ['SENTINEL', 'MASTER', MASTER])));
      return views.every((view) => view['num-slaves'] === '1' && view['num-other-sentinels'] === String(count - 1));
    });
    const servers = [first, second] as const;
    const master = async () => {
      const view = await query(ports[0] ?? 0, ['SENTINEL', 'MASTER', MASTER]);
      return view.port === String(second.port) ? second : first;
    };
    const failover = async () => {
      const former = await master();
      let acceptedAt = Number.NEGATIVE_INFINITY;
      await until('the failover', async () => {
        if ((await master()) !== former) return true;
        // Sentinel refuses a failover for a while after another one, and gives one up if the replica is lost meanwhile.
        const isDue = performance.now() - acceptedAt > 3 * FAILOVER_TIMEOUT_MILLISECONDS;
        if (isDue && (await isAccepted(ports[0] ?? 0, ['SENTINEL', 'FAILOVER', MASTER])))
          acceptedAt = performance.now();
        return false;
      });
      await following(former);
    };
    return { masterName: MASTER, sentinels, servers, master, failover, following, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function sentinel(directory: string, port: number, master: RedisServer, quorum: number) {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const file = join(directory, 'sentinel.conf');
  const lines = [
    'bind 127.0.0.1',
    `port ${port}`,
    `dir ${directory}`,
    `sentinel monitor ${MASTER} 127.0.0.1 ${master.port} ${quorum}`,
    `sentinel down-after-milliseconds ${MASTER} ${DOWN_AFTER_MILLISECONDS}`,
    `sentinel failover-timeout ${MASTER} ${FAILOVER_TIMEOUT_MILLISECONDS}`,
  ];
  writeFileSync(file, lines.map((line) => `${line}\n`).join(''), { mode: 0o600 });
  const log = join(directory, 'sentinel.log');
  const process = new ServerProcess({ name: 'sentinel', program: 'redis-server', args: [file, '--sentinel'], log });
  return { url: `redis://127.0.0.1:${port}`, process };
}

async function following(server: RedisServer): Promise<void> {
  const client = server.connect();
  try {
    await until(`the replica on port ${server.port}`, async () => {
      const info = await client.info('replication');
      return info.includes('role:slave') && info.includes('master_link_status:up');
    });
  } finally {
    client.disconnect();
  }
}

/** Returns the reply of a sentinel as names and values; empty while it does not answer. */
async function query(port: number, command: Command): Promise<Record<string, string>> {
  const reply = await call(port, command);
  const flat = Array.isArray(reply) ? reply.map(String) : [];
  return Object.fromEntries(flat.flatMap((key, index) => (index % 2 === 0 ? [[key, flat[index + 1] ?? '']] : [])));
}

async function isAccepted(port: number, command: Command): Promise<boolean> {
  return (await call(port, command)) === 'OK';
}

type Command = readonly [string, ...string[]];

async function call(port: number, [name, ...args]: Command): Promise<unknown> {
  const client = new Redis({ host: '127.0.0.1', port, protocol: 2, maxRetriesPerRequest: 0 }).on('error', () => {});
  try {
    return await client.call(name, ...args);
  } catch {
    return undefined;
  } finally {
    client.disconnect();
  }
}

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + READY_TIMEOUT_MILLISECONDS;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new LocalError('not-ready', `timed out waiting for ${what}`);
    await sleep(50);
  }
}
