import type { StoreProblem } from '../index.ts';
import { RedisStoreError } from './redis-error.ts';

const MINIMUM_MAJOR = 7;

export interface ServerReport {
  /** Why Sluice cannot use the server: VERSION, EVICTION or READ_ONLY. */
  readonly error: RedisStoreError | undefined;
  /** `error` and settings that can lose data. Sluice repairs the loss, at the price of a resync. */
  readonly problems: readonly StoreProblem[];
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
  const problems: StoreProblem[] = [];
  const error = errorOf(fields, server);
  if (error !== undefined) problems.push({ kind: kinds[error.code], message: error.message });
  if (fields.get('aof_enabled') === '0') {
    const message = `${server} has no append-only file: every restart of Redis causes a full resync`;
    problems.push({ kind: 'persistence', message });
  }
  // INFO has this field only if min-replicas-to-write and min-replicas-max-lag are set.
  if (failsOver && !fields.has('min_slaves_good_slaves')) {
    const message = `${server} has min-replicas-to-write 0: a failover may lose commits; set it to 1`;
    problems.push({ kind: 'replication', message });
  }
  return { error, problems };
}

type Unsuitable = RedisStoreError & { readonly code: keyof typeof kinds };

const kinds = { VERSION: 'version', EVICTION: 'eviction', READ_ONLY: 'readOnly' } as const;

const unsuitable = (code: keyof typeof kinds, message: string) => new RedisStoreError(code, message) as Unsuitable;

function errorOf(fields: ReadonlyMap<string, string>, server: string): Unsuitable | undefined {
  const version = fields.get('redis_version') ?? 'unknown';
  if (!(Number.parseInt(version, 10) >= MINIMUM_MAJOR)) {
    return unsuitable('VERSION', `${server} is ${version}; Sluice needs ${MINIMUM_MAJOR}.0 or newer`);
  }
  if (fields.get('role') === 'slave') {
    return unsuitable('READ_ONLY', `${server} is a replica: set the URL to the master, or use the topology sentinel`);
  }
  const policy = fields.get('maxmemory_policy') ?? 'unknown';
  if (Number(fields.get('maxmemory') ?? 0) > 0 && policy !== 'noeviction') {
    return unsuitable(
      'EVICTION',
      `${server} may evict what Sluice has stored: maxmemory is ${fields.get('maxmemory_human')} and maxmemory-policy is ` +
        `${policy}. Set maxmemory-policy to noeviction, or use a separate Redis for Sluice`,
    );
  }
  return undefined;
}
