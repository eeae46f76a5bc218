import type { Clock, Logger } from '@sluice/platform';
import { Cluster, type Redis } from 'ioredis';
import type {
  ClusterDirectory,
  ClusterPins,
  DeadLetters,
  Leases,
  Store,
  StoredDocument,
  StoreProblem,
} from '../index.ts';
import { checkServer, type ServerReport } from './check-server.ts';
import { connect, createClient, logConnection } from './client.ts';
import { LeaseThreadClient, type StartLeaseThread } from './lease-thread.ts';
import { RedisClusterDirectory } from './redis-cluster-directory.ts';
import { RedisDeadLetters } from './redis-dead-letters.ts';
import { RedisDocument } from './redis-document.ts';
import { withTimeout } from './redis-error.ts';
import { leasesTimeoutMs, RedisLeases } from './redis-leases.ts';
import type { RedisOptions, RedisSecrets } from './redis-options.ts';
import { RedisStore } from './redis-store.ts';
import type { Client, Commands } from './script.ts';
import { ServerMonitor } from './server-monitor.ts';

/** The store's ports on one Redis. */
export interface RedisPorts {
  readonly store: Store;
  readonly leases: Leases;
  readonly deadLetters: DeadLetters;
  readonly directory: ClusterDirectory;
  readonly clusterPins: ClusterPins;
  /** The generations of the fleet's partitions. */
  readonly partitions: StoredDocument;
  /** The generation whose logs are being created. */
  readonly intendedPartitions: StoredDocument;
  /** Settings of the servers that can lose data, checked each minute. */
  problems(): readonly StoreProblem[];
  /** Disconnects; commands in flight reject. Returns 'abandoned' if their timers keep running because Redis does not answer. */
  close(): 'closed' | 'abandoned';
}

interface RedisDependencies {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Undefined: only heartbeats renew leases, which a busy event loop delays. Enough for observers, which hold none. */
  readonly startLeaseThread?: StartLeaseThread | undefined;
  /** Returns the secrets for the next connection, which may have been rotated. Default: those of the options. */
  readonly secrets?: (() => RedisSecrets) | undefined;
}

/**
 * Connects to Redis and checks that Sluice can use it.
 *
 * @throws RedisStoreError if the options, the server or the user's permissions are unsuitable; closes all connections first
 */
export async function openRedis(
  options: RedisOptions,
  { clock, logger, startLeaseThread, secrets }: RedisDependencies,
): Promise<RedisPorts> {
  const { fleet, commandTimeoutMs = 10_000 } = options;
  const client = createClient(options, { commandTimeoutMs, secrets, offlineQueue: true });
  // A separate connection, so that heartbeats queue neither behind large commits nor behind a lost connection.
  const leaseTimeoutMs = Math.min(commandTimeoutMs, leasesTimeoutMs);
  const leaseClient = createClient(options, {
    commandTimeoutMs: leaseTimeoutMs,
    secrets,
    offlineQueue: false,
  });
  const subscriber = createClient(options, { commandTimeoutMs, secrets, offlineQueue: true, idle: true });
  const clients = [client, leaseClient];
  // At the same time as the connections open, because leases are acquired only once the thread can renew them.
  const thread =
    startLeaseThread && new LeaseThreadClient({ start: startLeaseThread, redis: options, secrets, clock, logger });
  let monitor: ServerMonitor | undefined;
  const failsOver = options.topology?.mode === 'sentinel';
  const check = async () => {
    const reports: ServerReport[] = [];
    for (const node of masters(client)) {
      const info = await withTimeout({ clock, commandTimeoutMs }, 'checking Redis', node.info());
      reports.push(checkServer(info, failsOver));
    }
    return reports;
  };
  const close = () => {
    const isAnswering = clients.every(({ status }) => status === 'ready');
    monitor?.close();
    thread?.close();
    for (const one of [...clients, subscriber]) {
      const nodes = one instanceof Cluster ? one.nodes() : [one];
      one.disconnect();
      // A server that does not answer never closes its side, so commands in flight would keep the process running.
      for (const { stream } of nodes) stream?.destroy();
    }
    return isAnswering ? 'closed' : 'abandoned';
  };
  try {
    await Promise.all(clients.map((one) => connect(one, clock, commandTimeoutMs)));
    const problems: StoreProblem[] = [];
    for (const report of await check()) {
      if (report.error !== undefined) throw report.error;
      // The processes of the fleet report them, and doctor does; a command need not repeat them.
      for (const { message } of report.problems) logger[thread === undefined ? 'debug' : 'warn'](message);
      problems.push(...report.problems);
    }
    monitor = new ServerMonitor({ check, clock, logger }, problems);
    // ioredis connects to a Cluster's nodes on the first command; do so before the first heartbeat.
    for (const node of masters(leaseClient))
      await withTimeout({ clock, commandTimeoutMs }, 'checking Redis', node.ping());
  } catch (error) {
    close();
    throw error;
  }
  logConnection(client, 'store', logger);
  logConnection(leaseClient, 'leases', logger);
  logConnection(subscriber, 'lease changes', logger);
  const commands = { client, clock, fleet, commandTimeoutMs };
  const leases = { ...commands, commandTimeoutMs: leaseTimeoutMs, client: leaseClient, subscriber, thread };
  return {
    ...adapters(commands, leases, options),
    problems: () => monitor?.problems ?? [],
    close,
  };
}

/** The ports on these connections. */
export function adapters(
  commands: Commands,
  leases: ConstructorParameters<typeof RedisLeases>[0],
  { maxDeadLetters: max, maxDeadLetterBytes: maxBytes }: Pick<RedisOptions, 'maxDeadLetters' | 'maxDeadLetterBytes'>,
): Omit<RedisPorts, 'problems' | 'close'> {
  return {
    store: new RedisStore(commands),
    leases: new RedisLeases(leases),
    directory: new RedisClusterDirectory(commands),
    clusterPins: new RedisDocument(commands, 'cluster-pins'),
    partitions: new RedisDocument(commands, 'settled/partitions'),
    intendedPartitions: new RedisDocument(commands, 'settled/intended-partitions'),
    deadLetters: new RedisDeadLetters({ ...commands, max, maxBytes }),
  };
}

function masters(client: Client): readonly Redis[] {
  return client instanceof Cluster ? client.nodes('master') : [client];
}
