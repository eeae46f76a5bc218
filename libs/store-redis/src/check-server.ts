import type { Logger } from '@sluice/runtime';
import { RedisStoreError } from './redis-error.ts';

const OLDEST = 7;

/**
 * Whether a server, by the answer to its INFO, is one that Sluice can rely on.
 *
 * @throws RedisStoreError VERSION, EVICTION, READ_ONLY
 */
export function checkServer(info: string, logger: Logger): void {
  const facts = new Map(
    info.split(/\r?\n/).flatMap((line) => {
      const colon = line.indexOf(':');
      return colon > 0 ? [[line.slice(0, colon), line.slice(colon + 1)] as const] : [];
    }),
  );
  const server = `Redis on port ${facts.get('tcp_port')}`;
  const version = facts.get('redis_version') ?? 'unknown';
  if (!(Number.parseInt(version, 10) >= OLDEST)) {
    throw new RedisStoreError('VERSION', `${server} is ${version}; Sluice needs ${OLDEST}.0 or newer`);
  }
  if (facts.get('role') === 'slave') {
    throw new RedisStoreError('READ_ONLY', `${server} is a replica: name the master, or the sentinels`);
  }
  const policy = facts.get('maxmemory_policy') ?? 'unknown';
  if (Number(facts.get('maxmemory') ?? 0) > 0 && policy !== 'noeviction') {
    throw new RedisStoreError(
      'EVICTION',
      `${server} may evict what Sluice has stored: maxmemory is ${facts.get('maxmemory_human')} and maxmemory-policy is ` +
        `${policy}. Set maxmemory-policy to noeviction, or give Sluice a Redis of its own`,
    );
  }
  if (facts.get('aof_enabled') === '0') {
    logger.warn('Redis has no append-only file: every restart of Redis causes a full resync', { server, version });
  }
}
