/** Implements the ports of @sluice/store on Redis 7 or newer: standalone, Sentinel or Cluster. */
export type {
  LeaseThread,
  LeaseThreadEvents,
  LeaseThreadMessage,
  LeaseThreadRequest,
  StartLeaseThread,
} from './lease-thread.ts';
export { openRedis, type RedisPorts } from './open-redis.ts';
export { RedisStoreError } from './redis-error.ts';
export type { RedisOptions, RedisSecrets } from './redis-options.ts';
export { runLeaseThread } from './run-lease-thread.ts';
