import { type Bus, isBusSetupError, NetworkedBus } from '@sluice/bus';
import { preloadSchemas } from '@sluice/messages';
import type { Clock, Logger, Random } from '@sluice/platform';
import { UsageError } from '@sluice/platform/process';
import type {
  ClusterDirectory,
  ClusterPins,
  DeadLetters,
  Leases,
  Store,
  StoredDocument,
  StoreProblem,
} from '@sluice/store';
import type { RedisPorts, StartLeaseThread } from '@sluice/store/redis';
import type { Configuration } from '../configuration/index.ts';
import { FleetGeneration, leasesOf, readGenerations, storeOf } from '../roles/fleet-generation.ts';
import { logsOf } from '../roles/generations.ts';
import { type KnownGenerations, openCurrentLogs } from './open-current-logs.ts';
import { rejectPlaintext } from './reject-plaintext.ts';
import { rereadSecrets } from './reread-secrets.ts';
import { whyUnreachable } from './why-unreachable.ts';

/** Without those in memory, which the processes of a fleet cannot share. */
type Shared<T extends { readonly kind: string }> = Exclude<T, { readonly kind: 'memory' }>;

type InfrastructureOptions = Pick<Configuration, 'fleet' | 'partitions' | 'bus' | 'store'> &
  Partial<Pick<Configuration, 'allowPlaintext'>>;

interface Ports {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Starts the thread that renews leases while the event loop is busy. Default: the process only observes. */
  readonly startLeaseThread?: StartLeaseThread | undefined;
  /**
   * Reads the configuration again, whose secrets may have been rotated. Called for each new connection to bus or store.
   * Default: secrets never change.
   */
  readonly reread?: (() => Pick<Configuration, 'bus' | 'store'>) | undefined;
}

export interface OpenInfrastructure extends Infrastructure {
  readonly directory: ClusterDirectory;
  readonly clusterPins: ClusterPins;
  readonly generation: FleetGeneration;
  /** The generations of partitions, as the store has them. */
  readonly document: StoredDocument;
  /** The generation whose logs are being created. */
  readonly intended: StoredDocument;
  /** Opens the logs of a generation, and creates those that are missing. The caller closes them. */
  readonly openLogs: (generation: number, partitions: number) => Promise<Bus>;
  /** Resolves to 'abandoned' if requests in flight are given up. */
  close(): Promise<'closed' | 'abandoned'>;
}

/**
 * Connects to bus and store, and checks that they belong to this fleet.
 *
 * @throws UsageError with the adapter's message
 */
export async function openInfrastructure(options: InfrastructureOptions, ports: Ports): Promise<OpenInfrastructure> {
  if (options.store.kind === 'memory') throw notShared('--store redis://HOST');
  if (options.bus.kind === 'memory') throw notShared('--bus nats://HOST or kafka://HOST');
  if (!options.allowPlaintext) rejectPlaintext(options);
  // At the same time, because connecting is waiting and loading is work.
  const { bus: where, fleet } = options;
  const known = Promise.withResolvers<KnownGenerations>();
  const openLogs = (generation: number, partitions: number) =>
    openBus(where, { fleet, generation, partitions }, ports, Promise.resolve());
  const opening = [
    openStore(options.store, options, ports, known),
    openCurrentLogs(
      known.promise,
      options.partitions,
      {
        first: (expected) => openBus(where, { fleet, generation: 0, partitions: options.partitions }, ports, expected),
        other: openLogs,
      },
      ports.logger,
    ),
    preloadSchemas(),
  ] as const;
  const [store, logs, schemas] = await Promise.allSettled(opening);
  if (store.status === 'fulfilled' && logs.status === 'fulfilled' && schemas.status === 'fulfilled') {
    const redis = store.value;
    const { problems, partitions: document, intendedPartitions: intended, ...stores } = redis;
    const { bus, generations } = logs.value;
    const generation = new FleetGeneration(generations, { ...ports, document, leases: redis.leases });
    if (generation.partitions !== options.partitions) {
      ports.logger.warn('partition count of the fleet differs from the configuration; using the count of the fleet', {
        partitions: generation.partitions,
        configured: options.partitions,
      });
    }
    const networked = new NetworkedBus(bus, ports);
    return {
      ...stores,
      store: storeOf(redis.store, generation.number),
      leases: leasesOf(redis.leases, generation.number),
      generation,
      document,
      intended,
      openLogs: async (number, partitions) => new NetworkedBus(await openLogs(number, partitions), ports),
      storeProblems: problems,
      whyUnreachable: (backend) => whyUnreachable(addressesOf(options, backend)),
      bus: networked,
      async close() {
        await networked.close();
        return redis.close();
      },
    };
  }
  if (store.status === 'fulfilled') store.value.close();
  if (logs.status === 'fulfilled') await logs.value.bus.close();
  const failed = [store, logs, schemas].find(({ status }) => status === 'rejected');
  const error: unknown = failed?.status === 'rejected' ? failed.reason : undefined;
  throw isSetupError(error) ? new UsageError(error.message, { cause: error }) : error;
}

/** Settles `known` once the generations of the fleet are known, or the store cannot be used. */
async function openStore(
  store: Shared<Configuration['store']>,
  { fleet, partitions }: InfrastructureOptions,
  ports: Ports,
  known: PromiseWithResolvers<KnownGenerations>,
): Promise<RedisPorts> {
  known.promise.catch(() => {});
  try {
    // Loaded on demand, because the adapters are large.
    const { openRedis } = await import('@sluice/store/redis');
    const redis = await openRedis({ ...store, fleet }, { ...ports, secrets: rereadSecrets('store', store, ports) });
    try {
      const { partitions: document } = redis;
      known.resolve({ generations: await readGenerations(document, partitions), document });
    } catch (error) {
      redis.close();
      throw error;
    }
    return redis;
  } catch (error) {
    known.reject(error);
    throw error;
  }
}

function addressesOf({ bus, store }: InfrastructureOptions, backend: 'bus' | 'store'): readonly string[] {
  if (backend === 'store') return store.kind === 'redis' ? store.urls : [];
  return bus.kind === 'nats' ? bus.servers : bus.kind === 'kafka' ? bus.brokers : [];
}

/** An in-memory bus or store cannot be shared by the processes of a fleet. */
function notShared(instead: string): UsageError {
  return new UsageError(`a fleet needs a bus and a store that all its processes share: pass ${instead}`);
}

/** Logs of a generation of a fleet. */
interface Logs {
  readonly fleet: string;
  readonly generation: number;
  readonly partitions: number;
}

/** Creates no streams or topics before `checked` resolves: a different partition count needs others. */
async function openBus(
  bus: Shared<Configuration['bus']>,
  { fleet, generation, partitions }: Logs,
  ports: Ports,
  checked: Promise<void>,
): Promise<Bus> {
  const secrets = rereadSecrets('bus', bus, ports);
  const logs = logsOf(fleet, generation);
  if (bus.kind === 'nats') {
    const { connectJetStreamBus } = await import('@sluice/bus/jetstream');
    // Users may receive replies below the name of their fleet only, whatever its logs are called.
    return connectJetStreamBus({ ...bus, fleet: logs, inboxOwner: fleet, partitions }, { ...ports, secrets }, checked);
  }
  const { connectKafkaBus, defaultKafkaTopics } = await import('@sluice/bus/kafka');
  await checked;
  const options = { ...defaultKafkaTopics, ...bus, clientId: 'sluice', fleet: logs, partitions };
  return connectKafkaBus({ ...options, secrets, ...ports });
}

/** Errors of the adapters that the user can fix. */
function isSetupError(error: unknown): error is Error {
  return isBusSetupError(error) || (error instanceof Error && error.name === 'RedisStoreError');
}

/** Bus and store of a fleet, as its roles use them. */
export interface Infrastructure {
  readonly bus: Bus;
  readonly store: Store;
  readonly leases: Leases;
  readonly deadLetters: DeadLetters;
  /** Undefined: the number of partitions never changes. */
  readonly generation?: FleetGeneration;
  /** Undefined if the clusters of the fleet are not listed. */
  readonly directory?: ClusterDirectory;
  /** Undefined: cluster identities are not pinned. */
  readonly clusterPins?: ClusterPins;
  /** Settings of the store's servers that can lose data, as of the last check. Undefined if nothing checks them. */
  readonly storeProblems?: () => readonly StoreProblem[];
  /** Why no server of bus or store accepts a connection: `connection refused`. Undefined: one does. */
  readonly whyUnreachable?: (backend: 'bus' | 'store') => Promise<string | undefined>;
}
