/** Implements the ports of @sluice/store on Redis 7 or newer: standalone, Sentinel or Cluster. */
export type {
  LeaseThread,
  LeaseThreadEvents,
  LeaseThreadMessage,
  LeaseThreadRequest,
  StartLeaseThread,
} from './lease-thread.ts';
export { openRedis, type RedisDependencies, type RedisPorts } from './open-redis.ts';
export { type RedisErrorCode, RedisStoreError } from './redis-error.ts';
export type { RedisOptions, RedisSecrets, RedisTls, RedisTopology } from './redis-options.ts';
export { runLeaseThread } from './run-lease-thread.ts';
