import { type Clock, errorMessage, type Logger } from '@sluice/platform';
import { Cluster, type RedisOptions as IoredisOptions, Redis } from 'ioredis';
import { RedisStoreError, toRedisStoreError } from './redis-error.ts';
import { type RedisOptions, type RedisSecrets, readAddresses } from './redis-options.ts';
import type { Client } from './script.ts';

interface ClientOptions {
  readonly commandTimeoutMs: number;
  /** Whether commands wait for a connection or reject at once while disconnected. */
  readonly offlineQueue: boolean;
  /** The connection may be idle for long, as for Pub/Sub: no socket timeout. */
  readonly idle?: boolean;
  /** Returns the secrets for the next connection, which may have been rotated. Default: those of the options. */
  readonly secrets?: (() => RedisSecrets) | undefined;
}

/** Creates a client that is not connected yet. */
export function createClient(options: RedisOptions, clientOptions: ClientOptions): Client {
  const { secrets } = clientOptions;
  const reread = () => {
    if (secrets !== undefined) replaceSecrets(client, { ...options, ...secrets() });
  };
  const client = newClient(options, clientOptions, reread);
  // A Cluster connects to its nodes without asking for a delay.
  client.on('-node', reread);
  // Without a listener ioredis prints errors itself. Commands report them to their callers anyway.
  client.on('error', () => {});
  return client;
}

function newClient(
  options: RedisOptions,
  { commandTimeoutMs, offlineQueue, idle = false }: ClientOptions,
  reread: () => void,
): Client {
  const retryStrategy = (attempt: number) => {
    reread();
    return retryDelay(attempt);
  };
  const { topology = { mode: 'standalone' } } = options;
  const addresses = readAddresses(options);
  const { username, password } = addresses;
  const common = {
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(addresses.tls ? { tls: tlsOptions(options) } : {}),
    connectTimeout: commandTimeoutMs,
    // Detects a peer that vanished without closing the connection.
    ...(idle ? {} : { socketTimeout: commandTimeoutMs }),
    // A command in flight when the connection broke may have been executed, so its caller must see the error.
    autoResendUnfulfilledCommands: false,
    disableClientInfo: true,
  } satisfies IoredisOptions;
  if (topology.mode === 'cluster') {
    return new Cluster([...addresses.hosts], {
      lazyConnect: true,
      enableOfflineQueue: offlineQueue,
      redisOptions: common,
      clusterRetryStrategy: retryStrategy,
      slotsRefreshTimeout: commandTimeoutMs,
    });
  }
  const single = {
    ...common,
    lazyConnect: true,
    enableOfflineQueue: offlineQueue,
    maxRetriesPerRequest: 20,
    retryStrategy,
    // The master was demoted: reconnecting asks the sentinels for the new one.
    reconnectOnError: (error: Error) => error.message.startsWith('READONLY'),
    db: addresses.database,
  } satisfies IoredisOptions;
  if (topology.mode === 'standalone') return new Redis({ ...single, ...addresses.hosts[0] });
  return new Redis({
    ...single,
    sentinels: [...addresses.hosts],
    name: topology.masterName,
    sentinelRetryStrategy: retryStrategy,
    enableTLSForSentinelMode: addresses.tls,
    ...(addresses.tls ? { sentinelTLS: tlsOptions(options) } : {}),
    ...(topology.username === undefined ? {} : { sentinelUsername: topology.username }),
    ...(topology.password === undefined ? {} : { sentinelPassword: topology.password }),
  });
}

/** Replaces what the client reads from its options at each connection. */
function replaceSecrets(client: Client, options: RedisOptions): void {
  const { username, password } = readAddresses(options);
  const { topology } = options;
  const target = client instanceof Cluster ? (client.options.redisOptions ?? {}) : client.options;
  Object.assign(target, { username, password });
  // A Cluster copies them for the connections to its nodes when it is created.
  if (client instanceof Cluster) Object.assign(nodeOptions(client), { username, password });
  if (target.tls !== undefined) Object.assign(target.tls, tlsOptions(options));
  if (topology?.mode !== 'sentinel') return;
  Object.assign(target, { sentinelUsername: topology.username, sentinelPassword: topology.password });
  if ('sentinelTLS' in target && target.sentinelTLS) Object.assign(target.sentinelTLS, tlsOptions(options));
}

/** Options of new connections to nodes: private in ioredis; a test rotates a password on a real Cluster. */
function nodeOptions(client: Cluster): IoredisOptions {
  const { connectionPool } = client as unknown as {
    readonly connectionPool?: { readonly redisOptions?: IoredisOptions };
  };
  return connectionPool?.redisOptions ?? {};
}

/**
 * Connects, retrying for `commandTimeoutMs`. Rejected credentials fail at once.
 *
 * @throws RedisStoreError UNREACHABLE, CREDENTIALS, FORBIDDEN; the client keeps retrying until it is disconnected
 */
export function connect(client: Client, clock: Clock, commandTimeoutMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    let lastError: unknown;
    const finish = (outcome: () => void) => {
      cancel();
      client.off('ready', ready);
      client.off('error', failed);
      outcome();
    };
    const ready = () => finish(resolve);
    const failed = (error: unknown) => {
      lastError = nodeError(error);
      const storeError = toRedisStoreError('connecting to Redis', lastError);
      if (storeError.code === 'CREDENTIALS' || storeError.code === 'FORBIDDEN') finish(() => reject(storeError));
    };
    const cancel = clock.schedule(commandTimeoutMs, () => {
      const timeout = new RedisStoreError(
        'UNREACHABLE',
        `connecting to Redis: no answer within ${commandTimeoutMs} ms`,
      );
      finish(() => reject(lastError === undefined ? timeout : toRedisStoreError('connecting to Redis', lastError)));
    });
    client.on('ready', ready);
    client.on('error', failed);
    // The error events carry more detail than this rejection.
    client.connect().catch(() => {});
  });
}

/** The cause behind a Cluster's error, which says only that all nodes failed. */
function nodeError(error: unknown): unknown {
  if (error instanceof Error && 'lastNodeError' in error && error.lastNodeError instanceof Error) {
    return error.lastNodeError;
  }
  return error;
}

function retryDelay(attempt: number): number {
  return Math.min(50 * attempt, 1000);
}

function tlsOptions({ tls: { serverName, ...pem } = {} }: RedisOptions) {
  return { ...pem, ...(serverName !== undefined && { servername: serverName }) };
}

/** Logs once when the connection is lost and once when it is restored. */
export function logConnection(client: Client, connection: string, logger: Logger): void {
  let lost = false;
  client.on('error', (error: unknown) => {
    if (lost) return;
    lost = true;
    logger.warn('Redis unavailable; retrying', { connection, reason: errorMessage(error) });
  });
  client.on('ready', () => {
    if (lost) logger.info('Redis available again', { connection });
    lost = false;
  });
}
