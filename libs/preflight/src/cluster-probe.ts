import type { ClusterReader, HttpCluster } from '@sluice/kubernetes';
import type { Access } from './access.ts';
import { reviewAccess } from './access-review.ts';
import { getServerVersion, type ServerVersion } from './server-version.ts';

/** The requests that preflight checks send to a cluster. */
export interface ClusterProbe extends Pick<ClusterReader, 'identity' | 'list'> {
  serverVersion(signal: AbortSignal): Promise<ServerVersion>;
  /** Whether each access is allowed, in the order of `accesses`. */
  reviewAccess(accesses: readonly Access[], signal: AbortSignal): Promise<readonly boolean[]>;
}

export function clusterProbe(cluster: HttpCluster): ClusterProbe {
  const { connection } = cluster;
  return {
    identity: (signal) => cluster.identity(signal),
    list: (resource, options, signal) => cluster.list(resource, options, signal),
    serverVersion: (signal) => getServerVersion(connection, signal),
    reviewAccess: (accesses, signal) => reviewAccess(connection, accesses, signal),
  };
}
