import type { Clock, Logger } from '@sluice/runtime';
import { errorMessage } from '@sluice/runtime';
import type { ClusterDirectory, DeadLetters, Leases, Store } from '@sluice/store';
import { Cluster, type Redis } from 'ioredis';
import { bounded } from './bounded.ts';
import { checkServer } from './check-server.ts';
import { connect, createClient } from './client.ts';
import { RedisClusterDirectory } from './redis-cluster-directory.ts';
import { RedisDeadLetters } from './redis-dead-letters.ts';
import { RedisLeases } from './redis-leases.ts';
import type { RedisOptions } from './redis-options.ts';
import { RedisStore } from './redis-store.ts';
import type { Client } from './script.ts';

/** The ports on one Redis. */
export interface RedisPorts {
  readonly store: Store;
  readonly leases: Leases;
  readonly deadLetters: DeadLetters;
  readonly directory: ClusterDirectory;
  /** Commands under way reject. */
  close(): void;
}

export interface RedisSurroundings {
  readonly clock: Clock;
  readonly logger: Logger;
}

/** After which a silent connection of the leases is given up, in milliseconds: heartbeats are small and frequent. */
const LEASES_PATIENCE_MS = 2000;

/**
 * Connects to Redis and makes sure that it is fit.
 *
 * @throws RedisStoreError whatever is wrong with the options, the server or the user; nothing stays open then
 */
export async function openRedis(options: RedisOptions, { clock, logger }: RedisSurroundings): Promise<RedisPorts> {
  const { fleet, patienceMs = 10_000, maxDeadLetters } = options;
  const client = createClient(options, { patienceMs, waits: true });
  // A connection of their own: a heartbeat does not queue behind a large commit, nor behind a lost connection.
  const pulse = createClient(options, { patienceMs: Math.min(patienceMs, LEASES_PATIENCE_MS), waits: false });
  const subscriber = createClient(options, { patienceMs, waits: true, silent: true });
  const clients = [client, pulse];
  const close = () => {
    for (const one of [...clients, subscriber]) one.disconnect();
  };
  try {
    await Promise.all(clients.map((one) => connect(one, clock, patienceMs)));
    for (const node of masters(client)) {
      checkServer(await bounded(clock, patienceMs, 'checking Redis', node.info()), logger);
    }
    // A Cluster's nodes are connected to at the first command; no heartbeat shall wait for that.
    for (const node of masters(pulse)) await bounded(clock, patienceMs, 'checking Redis', node.ping());
  } catch (error) {
    close();
    throw error;
  }
  watch(client, 'store', logger);
  watch(pulse, 'leases', logger);
  watch(subscriber, 'changes of leases', logger);
  const parts = { client, clock, fleet, patienceMs };
  return {
    store: new RedisStore(parts),
    leases: new RedisLeases({ ...parts, client: pulse, subscriber }),
    directory: new RedisClusterDirectory(parts),
    deadLetters: new RedisDeadLetters(maxDeadLetters === undefined ? parts : { ...parts, max: maxDeadLetters }),
    close,
  };
}

function masters(client: Client): readonly Redis[] {
  return client instanceof Cluster ? client.nodes('master') : [client];
}

/** Says once that the connection is lost, and once that it is back. */
function watch(client: Client, connection: string, logger: Logger): void {
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
