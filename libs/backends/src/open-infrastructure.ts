import { type Bus, ChunkedBus, isBusSetupError } from '@sluice/bus';
import type { Configuration } from '@sluice/configuration';
import { preloadSchemas } from '@sluice/messages';
import { UsageError } from '@sluice/process';
import type { Clock, Logger, Random } from '@sluice/runtime';
import type { ClusterDirectory } from '@sluice/store';
import type { Infrastructure } from './infrastructure.ts';
import { startLeaseThread } from './start-lease-thread.ts';

type InfrastructureOptions = Pick<Configuration, 'fleet' | 'partitions' | 'bus' | 'store'>;

interface Ports {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

export interface OpenInfrastructure extends Infrastructure {
  readonly directory: ClusterDirectory;
  close(): Promise<void>;
}

/**
 * Connects to bus and store, and makes sure that they are this fleet's.
 *
 * @throws UsageError what is wrong with them, in words of the adapter
 */
export async function openInfrastructure(options: InfrastructureOptions, ports: Ports): Promise<OpenInfrastructure> {
  const { fleet, store, partitions } = options;
  if (store.kind === 'memory') throw inMemory('--store redis://HOST');
  await preloadSchemas();
  try {
    // The adapters are large; a process loads those that it uses.
    const { openRedis } = await import('@sluice/store-redis');
    const redis = await openRedis({ ...store, fleet }, { ...ports, startLeaseThread });
    try {
      await settlePartitions(redis.store, partitions);
      const bus = new ChunkedBus(await openBus(options, ports), ports);
      return {
        ...redis,
        bus,
        async close() {
          await bus.close();
          redis.close();
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

/** What is in one process is no good to another. */
function inMemory(instead: string): UsageError {
  return new UsageError(`a fleet needs a bus and a store that all its processes share: pass ${instead}`);
}

async function openBus({ bus, fleet, partitions }: InfrastructureOptions, ports: Ports): Promise<Bus> {
  if (bus.kind === 'memory') throw inMemory('--bus nats://HOST or kafka://HOST');
  if (bus.kind === 'nats') {
    const { connectJetStreamBus } = await import('@sluice/bus-jetstream');
    return connectJetStreamBus({ ...bus, fleet, partitions }, ports);
  }
  const { connectKafkaBus, defaultKafkaTopics } = await import('@sluice/bus-kafka');
  return connectKafkaBus({ ...defaultKafkaTopics, ...bus, clientId: 'sluice', fleet, partitions, ...ports });
}

/** Another number would send Services to other partitions than those that hold their views. */
async function settlePartitions(store: Infrastructure['store'], partitions: number): Promise<void> {
  const settled = await store.setIfAbsent('partitions', String(partitions));
  if (settled === String(partitions)) return;
  throw new UsageError(
    `this fleet was created with ${settled} partitions, not ${partitions}: pass --partitions ${settled} or another --fleet`,
  );
}

/** Errors with which the adapters tell people what to change. */
function isSetupError(error: unknown): error is Error {
  return isBusSetupError(error) || (error instanceof Error && error.name === 'RedisStoreError');
}
