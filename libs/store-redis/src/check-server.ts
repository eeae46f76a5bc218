import type { Logger } from '@sluice/runtime';
import { RedisStoreError } from './redis-error.ts';

const MINIMUM_MAJOR = 7;

/**
 * Checks a server's version, role and eviction policy, read from its INFO; warns if it does not persist data.
 *
 * @throws RedisStoreError VERSION, EVICTION, READ_ONLY
 */
export function checkServer(info: string, logger: Logger): void {
  const fields = new Map(
    info.split(/\r?\n/).flatMap((line) => {
      const colon = line.indexOf(':');
      return colon > 0 ? [[line.slice(0, colon), line.slice(colon + 1)] as const] : [];
    }),
  );
  const server = `Redis on port ${fields.get('tcp_port')}`;
  const version = fields.get('redis_version') ?? 'unknown';
  if (!(Number.parseInt(version, 10) >= MINIMUM_MAJOR)) {
    throw new RedisStoreError('VERSION', `${server} is ${version}; Sluice needs ${MINIMUM_MAJOR}.0 or newer`);
  }
  if (fields.get('role') === 'slave') {
    throw new RedisStoreError(
      'READ_ONLY',
      `${server} is a replica: set the URL to the master, or use the topology sentinel`,
    );
  }
  const policy = fields.get('maxmemory_policy') ?? 'unknown';
  if (Number(fields.get('maxmemory') ?? 0) > 0 && policy !== 'noeviction') {
    throw new RedisStoreError(
      'EVICTION',
      `${server} may evict what Sluice has stored: maxmemory is ${fields.get('maxmemory_human')} and maxmemory-policy is ` +
        `${policy}. Set maxmemory-policy to noeviction, or use a separate Redis for Sluice`,
    );
  }
  if (fields.get('aof_enabled') === '0') {
    logger.warn('Redis has no append-only file: every restart of Redis causes a full resync', { server, version });
  }
}
