import type { Clock } from '@sluice/platform';
import { adapters, type RedisPorts } from '../open-redis.ts';
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
  const client = memoryClient(options.server, options.intercept);
  const commands = { client, clock: options.clock, fleet: options.fleet, commandTimeoutMs: 10_000 };
  return adapters(commands, { ...commands, subscriber: client }, options);
}
