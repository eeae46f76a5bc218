import type { Clock } from '@sluice/platform';
import type { RedisPorts } from '../open-redis.ts';
import { RedisClusterDirectory } from '../redis-cluster-directory.ts';
import { RedisDeadLetters } from '../redis-dead-letters.ts';
import { RedisDocument } from '../redis-document.ts';
import { RedisLeases } from '../redis-leases.ts';
import { RedisStore } from '../redis-store.ts';
import { type Intercept, memoryClient } from './memory-client.ts';
import type { MemoryRedis } from './memory-redis.ts';

export interface MemoryPortsOptions {
  readonly server: MemoryRedis;
  readonly clock: Clock;
  readonly fleet: string;
  readonly maxDeadLetters?: number;
  readonly maxDeadLetterBytes?: number;
  readonly intercept?: Intercept;
}

/** The production adapters on a server in this process, as one process of a fleet uses them. */
export function memoryPorts(options: MemoryPortsOptions): Omit<RedisPorts, 'problems' | 'close'> {
  const { server, clock, fleet, maxDeadLetters: max, maxDeadLetterBytes: maxBytes, intercept } = options;
  const client = memoryClient(server, intercept);
  const parts = { client, clock, fleet, commandTimeoutMs: 10_000 };
  return {
    store: new RedisStore(parts),
    leases: new RedisLeases({ ...parts, subscriber: client }),
    directory: new RedisClusterDirectory(parts),
    clusterPins: new RedisDocument({ ...parts, name: 'cluster-pins' }),
    partitions: new RedisDocument({ ...parts, name: 'settled/partitions' }),
    intendedPartitions: new RedisDocument({ ...parts, name: 'settled/intended-partitions' }),
    deadLetters: new RedisDeadLetters({
      ...parts,
      ...(max !== undefined && { max }),
      ...(maxBytes !== undefined && { maxBytes }),
    }),
  };
}
