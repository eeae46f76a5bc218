import type { Clock } from '@sluice/runtime';
import { Cluster, type RedisOptions as IoredisOptions, Redis } from 'ioredis';
import { explain, RedisStoreError } from './redis-error.ts';
import { type RedisAddresses, type RedisOptions, readAddresses } from './redis-options.ts';
import type { Client } from './script.ts';

export interface ClientOptions {
  readonly patienceMs: number;
  /** Whether a command waits for a connection while there is none, or rejects at once. */
  readonly waits: boolean;
  /** The server may be silent for long, as on a connection that waits to be told something. */
  readonly silent?: boolean;
}

/** Not connected yet. */
export function createClient(options: RedisOptions, clientOptions: ClientOptions): Client {
  const client = newClient(options, clientOptions);
  // While nobody listens, ioredis prints errors itself; those who wait for its commands hear of them anyway.
  client.on('error', () => {});
  return client;
}

function newClient(options: RedisOptions, { patienceMs, waits, silent = false }: ClientOptions): Client {
  const { topology = { mode: 'standalone' } } = options;
  const addresses = readAddresses(options);
  const common = {
    ...credentials(addresses),
    ...(addresses.tls ? { tls: tlsOptions(options) } : {}),
    connectTimeout: patienceMs,
    // A peer that is gone without a word (its machine, its network) is noticed by its silence.
    ...(silent ? {} : { socketTimeout: patienceMs }),
    // What was on the way when the connection broke may have been carried out: its caller has to know.
    autoResendUnfulfilledCommands: false,
    disableClientInfo: true,
  } satisfies IoredisOptions;
  if (topology.mode === 'cluster') {
    return new Cluster([...addresses.hosts], {
      lazyConnect: true,
      enableOfflineQueue: waits,
      redisOptions: common,
      clusterRetryStrategy: retryDelay,
      slotsRefreshTimeout: patienceMs,
    });
  }
  const single = {
    ...common,
    lazyConnect: true,
    enableOfflineQueue: waits,
    maxRetriesPerRequest: 20,
    retryStrategy: retryDelay,
    // It was demoted: the sentinels know who is master now.
    reconnectOnError: (error: Error) => error.message.startsWith('READONLY'),
    db: addresses.database,
  } satisfies IoredisOptions;
  if (topology.mode === 'standalone') return new Redis({ ...single, ...addresses.hosts[0] });
  return new Redis({
    ...single,
    sentinels: [...addresses.hosts],
    name: topology.masterName,
    sentinelRetryStrategy: retryDelay,
    enableTLSForSentinelMode: addresses.tls,
    ...(addresses.tls ? { sentinelTLS: tlsOptions(options) } : {}),
    ...(topology.username === undefined ? {} : { sentinelUsername: topology.username }),
    ...(topology.password === undefined ? {} : { sentinelPassword: topology.password }),
  });
}

/**
 * Connects, trying again for as long as the patience lasts. Wrong credentials end it at once.
 *
 * @throws RedisStoreError UNREACHABLE, CREDENTIALS, FORBIDDEN; the client goes on trying until it is disconnected
 */
export function connect(client: Client, clock: Clock, patienceMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    let last: unknown;
    const settle = (outcome: () => void) => {
      cancel();
      client.off('ready', ready);
      client.off('error', failed);
      outcome();
    };
    const ready = () => settle(resolve);
    const failed = (error: unknown) => {
      last = nodeError(error);
      const explained = explain('connecting to Redis', last);
      if (explained.code === 'CREDENTIALS' || explained.code === 'FORBIDDEN') settle(() => reject(explained));
    };
    const cancel = clock.schedule(patienceMs, () => {
      const silent = new RedisStoreError('UNREACHABLE', `connecting to Redis: no answer within ${patienceMs} ms`);
      settle(() => reject(last === undefined ? silent : explain('connecting to Redis', last)));
    });
    client.on('ready', ready);
    client.on('error', failed);
    // Its rejection says less than the events do.
    client.connect().catch(() => {});
  });
}

/** A Cluster's error says that all nodes failed; this is why. */
function nodeError(error: unknown): unknown {
  if (error instanceof Error && 'lastNodeError' in error && error.lastNodeError instanceof Error) {
    return error.lastNodeError;
  }
  return error;
}

function retryDelay(attempt: number): number {
  return Math.min(50 * attempt, 1000);
}

function credentials({ username, password }: RedisAddresses): { username?: string; password?: string } {
  return { ...(username === undefined ? {} : { username }), ...(password === undefined ? {} : { password }) };
}

function tlsOptions({ tls = {} }: RedisOptions) {
  const { ca, cert, key, serverName } = tls;
  return {
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    ...(serverName === undefined ? {} : { servername: serverName }),
  };
}
