import { RedisStoreError } from './redis-error.ts';

const MINIMUM_MAJOR = 7;

export interface ServerReport {
  /** Why Sluice cannot use the server: VERSION, EVICTION or READ_ONLY. */
  readonly error: RedisStoreError | undefined;
  /** Settings that can lose data. Sluice repairs the loss, at the price of a resync. */
  readonly warnings: readonly string[];
}

/**
 * Checks a server's version, role, eviction policy, persistence and replication, read from its INFO. `failsOver`: replicas
 * may be promoted, as with Sentinel.
 */
export function checkServer(info: string, failsOver: boolean): ServerReport {
  const fields = new Map(
    info.split(/\r?\n/).flatMap((line) => {
      const colon = line.indexOf(':');
      return colon > 0 ? [[line.slice(0, colon), line.slice(colon + 1)] as const] : [];
    }),
  );
  const server = `Redis on port ${fields.get('tcp_port')}`;
  const warnings: string[] = [];
  if (fields.get('aof_enabled') === '0') {
    warnings.push(`${server} has no append-only file: every restart of Redis causes a full resync`);
  }
  // INFO has this field only if min-replicas-to-write and min-replicas-max-lag are set.
  if (failsOver && !fields.has('min_slaves_good_slaves')) {
    warnings.push(`${server} has min-replicas-to-write 0: a failover may lose commits; set it to 1`);
  }
  return { error: errorOf(fields, server), warnings };
}

function errorOf(fields: ReadonlyMap<string, string>, server: string): RedisStoreError | undefined {
  const version = fields.get('redis_version') ?? 'unknown';
  if (!(Number.parseInt(version, 10) >= MINIMUM_MAJOR)) {
    return new RedisStoreError('VERSION', `${server} is ${version}; Sluice needs ${MINIMUM_MAJOR}.0 or newer`);
  }
  if (fields.get('role') === 'slave') {
    return new RedisStoreError(
      'READ_ONLY',
      `${server} is a replica: set the URL to the master, or use the topology sentinel`,
    );
  }
  const policy = fields.get('maxmemory_policy') ?? 'unknown';
  if (Number(fields.get('maxmemory') ?? 0) > 0 && policy !== 'noeviction') {
    return new RedisStoreError(
      'EVICTION',
      `${server} may evict what Sluice has stored: maxmemory is ${fields.get('maxmemory_human')} and maxmemory-policy is ` +
        `${policy}. Set maxmemory-policy to noeviction, or use a separate Redis for Sluice`,
    );
  }
  return undefined;
}
