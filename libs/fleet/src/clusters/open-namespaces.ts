import { createHash } from 'node:crypto';
import { resourcesOf } from '@sluice/controllers';
import { type ClusterReader, type Connection, chainReader, HttpCluster, scopeReader } from '@sluice/kubernetes';
import { checkReading, clusterProbe, type ServerVersion } from '@sluice/kubernetes/preflight';
import type { Controller } from '@sluice/model';
import { type Clock, errorMessage, type Logger, type Random } from '@sluice/platform';

interface NamespacesOptions {
  readonly connection: Connection;
  /** For people. */
  readonly cluster: string;
  readonly controllers: ReadonlySet<Controller>;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

interface OpenedNamespaces {
  readonly identity: string;
  readonly version: ServerVersion;
  readonly readers: ReadonlyMap<string, ClusterReader>;
}

const grant =
  'grant list and watch in the namespace with a Role and a RoleBinding, see infra/kubernetes/observe-namespace.yaml';

/**
 * A reader of each namespace that reads nothing else: neither Nodes nor the namespace kube-system, so that a Role is enough.
 * Namespaces that cannot be read are reported, and the others do not wait for them.
 *
 * @throws ClusterUnavailableError if no namespace can be read
 */
export async function openNamespaces(
  namespaces: readonly string[],
  { connection, cluster, controllers, signal, clock, random, logger }: NamespacesOptions,
): Promise<OpenedNamespaces> {
  const identity = identityOf(connection.server, await connection.authorities());
  const resources = new Set([...resourcesOf(controllers)].filter((resource) => resource !== 'nodes'));
  const open = async (namespace: string) => {
    const http = new HttpCluster({ connection, clock, random, namespace });
    const own: ClusterReader = { ...chainReader(http), resources, identity: async () => identity };
    const reader = scopeReader(own, { only: [namespace] });
    const probe = { ...clusterProbe(http), identity: reader.identity };
    const checked = checkReading(probe, { cluster, resources, grant, signal });
    const [result] = await Promise.allSettled([checked]);
    return { namespace, reader, result };
  };
  const opened = await Promise.all(namespaces.map(open));
  const versions = opened.flatMap(({ result }) => (result.status === 'fulfilled' ? result.value.version : []));
  const [version] = versions;
  for (const { namespace, result } of opened) {
    if (result.status === 'fulfilled') continue;
    if (version === undefined) throw result.reason;
    logger.warn('cannot read namespace; retrying', { namespace, error: errorMessage(result.reason) });
  }
  if (version === undefined) throw new TypeError('no namespace is given');
  return { identity, version, readers: new Map(opened.map(({ namespace, reader }) => [namespace, reader])) };
}

/**
 * Identifies the cluster without permission to read any Namespace. It depends on nothing that changes between two starts:
 * neither the namespaces nor what else the user may read. The authorities tell clusters apart that have the same address,
 * for example one that was recreated.
 */
function identityOf(server: string, authorities: readonly string[]): string {
  const text = JSON.stringify([server, ...authorities.toSorted()]);
  return `server-${createHash('sha256').update(text).digest('hex').slice(0, 32)}`;
}
