import type { Clock, Logger } from '@sluice/runtime';
import { errorMessage } from '@sluice/runtime';
import type { ClusterDirectory, DeadLetters, Leases, Store } from '@sluice/store';
import { Cluster, type Redis } from 'ioredis';
import { checkServer } from './check-server.ts';
import { connect, createClient } from './client.ts';
import { RedisClusterDirectory } from './redis-cluster-directory.ts';
import { RedisDeadLetters } from './redis-dead-letters.ts';
import { RedisLeases } from './redis-leases.ts';
import type { RedisOptions } from './redis-options.ts';
import { RedisStore } from './redis-store.ts';
import type { Client } from './script.ts';
import { withTimeout } from './with-timeout.ts';

/** The store's ports on one Redis. */
export interface RedisPorts {
  readonly store: Store;
  readonly leases: Leases;
  readonly deadLetters: DeadLetters;
  readonly directory: ClusterDirectory;
  /** Disconnects; commands in flight reject. */
  close(): void;
}

export interface RedisDependencies {
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Socket timeout of the leases' connection, in milliseconds: short, because heartbeats are small and frequent. */
const LEASES_TIMEOUT_MS = 2000;

/**
 * Connects to Redis and checks that Sluice can use it.
 *
 * @throws RedisStoreError if the options, the server or the user's permissions are unsuitable; closes all connections first
 */
export async function openRedis(options: RedisOptions, { clock, logger }: RedisDependencies): Promise<RedisPorts> {
  const { fleet, commandTimeoutMs = 10_000, maxDeadLetters } = options;
  const client = createClient(options, { commandTimeoutMs, offlineQueue: true });
  // A separate connection, so that heartbeats queue neither behind large commits nor behind a lost connection.
  const leaseClient = createClient(options, {
    commandTimeoutMs: Math.min(commandTimeoutMs, LEASES_TIMEOUT_MS),
    offlineQueue: false,
  });
  const subscriber = createClient(options, { commandTimeoutMs, offlineQueue: true, idle: true });
  const clients = [client, leaseClient];
  const close = () => {
    for (const one of [...clients, subscriber]) one.disconnect();
  };
  try {
    await Promise.all(clients.map((one) => connect(one, clock, commandTimeoutMs)));
    for (const node of masters(client)) {
      checkServer(await withTimeout(clock, commandTimeoutMs, 'checking Redis', node.info()), logger);
    }
    // ioredis connects to a Cluster's nodes on the first command; do so before the first heartbeat.
    for (const node of masters(leaseClient)) await withTimeout(clock, commandTimeoutMs, 'checking Redis', node.ping());
  } catch (error) {
    close();
    throw error;
  }
  logConnection(client, 'store', logger);
  logConnection(leaseClient, 'leases', logger);
  logConnection(subscriber, 'lease changes', logger);
  const parts = { client, clock, fleet, commandTimeoutMs };
  return {
    store: new RedisStore(parts),
    leases: new RedisLeases({ ...parts, client: leaseClient, subscriber }),
    directory: new RedisClusterDirectory(parts),
    deadLetters: new RedisDeadLetters(maxDeadLetters === undefined ? parts : { ...parts, max: maxDeadLetters }),
    close,
  };
}

function masters(client: Client): readonly Redis[] {
  return client instanceof Cluster ? client.nodes('master') : [client];
}

/** Logs once when the connection is lost and once when it is restored. */
function logConnection(client: Client, connection: string, logger: Logger): void {
  let lost = false;
  client.on('error', (error: unknown) => {
    if (lost) return;
    lost = true;
    logger.warn('Redis unavailable; retrying', {
      connection,
      reason: errorMessage(error),
    });
  });
  client.on('ready', () => {
    if (lost) logger.info('Redis available again', { connection });
    lost = false;
  });
}
