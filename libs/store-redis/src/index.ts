/** The ports of @sluice/store on Redis ≥ 7: alone, behind Sentinel, or a Cluster. */
export { openRedis, type RedisPorts, type RedisSurroundings } from './open-redis.ts';
export { type RedisErrorCode, RedisStoreError } from './redis-error.ts';
export type { RedisOptions, RedisTls, RedisTopology } from './redis-options.ts';
