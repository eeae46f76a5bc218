import { type Bus, ChunkedBus, isBusSetupError } from '@sluice/bus';
import type { Configuration } from '@sluice/configuration';
import { preloadSchemas } from '@sluice/messages';
import { UsageError } from '@sluice/process';
import type { Clock, Logger, Random } from '@sluice/runtime';
import type { ClusterDirectory, ClusterPins } from '@sluice/store';
import type { Infrastructure } from './infrastructure.ts';
import { rejectPlaintext } from './reject-plaintext.ts';
import { rereadSecrets } from './reread-secrets.ts';
import { startLeaseThread } from './start-lease-thread.ts';
import { whyUnreachable } from './why-unreachable.ts';

type InfrastructureOptions = Pick<Configuration, 'fleet' | 'partitions' | 'bus' | 'store'> &
  Partial<Pick<Configuration, 'allowPlaintext'>>;

interface Ports {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** The process holds leases, so a thread of its own renews them while the event loop is busy. Default: it only observes. */
  readonly holdsLeases?: boolean | undefined;
  /**
   * Reads the configuration again, whose secrets may have been rotated. Called for each new connection to bus or store.
   * Default: secrets never change.
   */
  readonly reread?: (() => Pick<Configuration, 'bus' | 'store'>) | undefined;
}

export interface OpenInfrastructure extends Infrastructure {
  readonly directory: ClusterDirectory;
  readonly clusterPins: ClusterPins;
  /** Resolves to 'abandoned' if requests in flight are given up. */
  close(): Promise<'closed' | 'abandoned'>;
}

/**
 * Connects to bus and store, and checks that they belong to this fleet.
 *
 * @throws UsageError with the adapter's message
 */
export async function openInfrastructure(options: InfrastructureOptions, ports: Ports): Promise<OpenInfrastructure> {
  const { fleet, store, partitions } = options;
  if (store.kind === 'memory') throw notShared('--store redis://HOST');
  if (!options.allowPlaintext) rejectPlaintext(options);
  await preloadSchemas();
  try {
    // Loaded on demand, because the adapters are large.
    const { openRedis } = await import('@sluice/store-redis');
    const redis = await openRedis(
      { ...store, fleet },
      { ...ports, ...(ports.holdsLeases && { startLeaseThread }), secrets: rereadSecrets('store', store, ports) },
    );
    try {
      await claimPartitions(redis.store, partitions);
      const bus = new ChunkedBus(await openBus(options, ports), ports);
      const { problems, ...store } = redis;
      return {
        ...store,
        storeProblems: problems,
        whyUnreachable: (backend) => whyUnreachable(addressesOf(options, backend)),
        bus,
        async close() {
          await bus.close();
          return redis.close();
        },
      };
    } catch (error) {
      redis.close();
      throw error;
    }
  } catch (error) {
    if (!isSetupError(error)) throw error;
    throw new UsageError(error.message, { cause: error });
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

async function openBus({ bus, fleet, partitions }: InfrastructureOptions, ports: Ports): Promise<Bus> {
  if (bus.kind === 'memory') throw notShared('--bus nats://HOST or kafka://HOST');
  if (bus.kind === 'nats') {
    const { connectJetStreamBus } = await import('@sluice/bus-jetstream');
    return connectJetStreamBus({ ...bus, fleet, partitions }, { ...ports, secrets: rereadSecrets('bus', bus, ports) });
  }
  const { connectKafkaBus, defaultKafkaTopics } = await import('@sluice/bus-kafka');
  const secrets = rereadSecrets('bus', bus, ports);
  return connectKafkaBus({ ...defaultKafkaTopics, ...bus, clientId: 'sluice', fleet, partitions, secrets, ...ports });
}

/** Checks the number of partitions. Another number would map Services to partitions that do not hold their state. */
async function claimPartitions(store: Infrastructure['store'], partitions: number): Promise<void> {
  const existing = await store.setIfAbsent('partitions', String(partitions));
  if (existing === String(partitions)) return;
  throw new UsageError(
    `this fleet was created with ${existing} partitions, not ${partitions}: pass --partitions ${existing} or another --fleet`,
  );
}

/** Errors of the adapters that the user can fix. */
function isSetupError(error: unknown): error is Error {
  return isBusSetupError(error) || (error instanceof Error && error.name === 'RedisStoreError');
}
