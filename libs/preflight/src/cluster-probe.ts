import type { ClusterReader, HttpCluster } from '@sluice/kubernetes';
import { asRecord, asString } from '@sluice/runtime';
import type { Access } from './access.ts';
import { reviewAccess } from './access-review.ts';
import { getServerVersion, type ServerVersion } from './server-version.ts';

/** The requests that preflight checks send to a cluster. */
export interface ClusterProbe extends Pick<ClusterReader, 'identity' | 'list'> {
  serverVersion(signal: AbortSignal): Promise<ServerVersion>;
  /** Whether each access is allowed, in the order of `accesses`. */
  reviewAccess(accesses: readonly Access[], signal: AbortSignal): Promise<readonly boolean[]>;
  /** Name of this client's user; undefined if the server does not tell, which needs Kubernetes 1.28. Never rejects. */
  userName?(signal: AbortSignal): Promise<string | undefined>;
}

export function clusterProbe(cluster: HttpCluster): ClusterProbe {
  const { connection } = cluster;
  return {
    identity: (signal) => cluster.identity(signal),
    list: (resource, options, signal) => cluster.list(resource, options, signal),
    serverVersion: (signal) => getServerVersion(connection, signal),
    reviewAccess: (accesses, signal) => reviewAccess(connection, accesses, signal),
    userName: (signal) => userName(connection, signal).catch(() => undefined),
  };
}

async function userName(connection: HttpCluster['connection'], signal: AbortSignal): Promise<string | undefined> {
  const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
  const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
  const { body } = await connection.request({ method: 'POST', path, body: review, signal });
  return asString(asRecord(asRecord(asRecord(body).status).userInfo).username) || undefined;
}
