import { ClusterSet, type ClusterSource, type ConnectedCluster, StoredIdentities } from '@sluice/fleet/clusters';
import { type ClusterAccess, Connection, chainReader, HttpCluster } from '@sluice/kubernetes';
import { checkReading, clusterProbe } from '@sluice/kubernetes/preflight';
import { type Clock, type Logger, type Random, sleep } from '@sluice/platform';
import { userAgent } from '@sluice/platform/process';
import type { ClusterPins } from '@sluice/store';

interface Ports {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

interface ReviewingClustersOptions extends Ports {
  readonly sources: readonly ClusterSource[];
  /** Compared with, and not changed. */
  readonly clusterPins: Pick<ClusterPins, 'read'>;
}

/** Interval between checks that the same cluster answers at an address, in milliseconds. */
const identityCheckMs = 30_000;

/**
 * The clusters of a fleet that its console asks about its readers: each under the identity that the fleet has pinned, so that
 * no cluster decides about another's data. Of its own credentials, the console needs only `get` on the namespace kube-system.
 */
export class ReviewingClusters {
  readonly #set: ClusterSet;
  readonly #accesses = new Map<string, ClusterAccess>();

  constructor({ sources, clusterPins, ...ports }: ReviewingClustersOptions) {
    this.#set = new ClusterSet({
      ...ports,
      sources,
      identities: new StoredIdentities({ read: () => clusterPins.read(), replace: async () => true }),
      open: (access, signal, name) => identify(access, { ...ports, signal, name }),
      serve: (cluster, signal) => this.#serve(cluster, ports.clock, signal),
    });
  }

  /** How the clusters are reached that are identified, by identity. */
  get accesses(): ReadonlyMap<string, ClusterAccess> {
    return this.#accesses;
  }

  /** Runs until `signal` aborts. */
  run(signal: AbortSignal): Promise<void> {
    return this.#set.run(signal);
  }

  async #serve({ identity, access, reader }: ConnectedCluster, clock: Clock, signal: AbortSignal): Promise<void> {
    if (access !== undefined) this.#accesses.set(identity, access);
    try {
      let found = identity;
      while (!signal.aborted && found === identity) {
        await sleep(clock, identityCheckMs, signal);
        // While the API server does not answer, it reviews nothing either.
        if (!signal.aborted) found = await reader.identity(signal).catch(() => identity);
      }
    } finally {
      this.#accesses.delete(identity);
    }
  }
}

interface IdentifyOptions extends Ports {
  readonly name: string;
  readonly signal: AbortSignal;
}

const timeoutMs = 30_000;

/** Reads the identity of a cluster, and nothing else. */
async function identify(access: ClusterAccess, options: IdentifyOptions): Promise<ConnectedCluster> {
  const { name, clock, random, signal } = options;
  const connection = new Connection({ ...options, access, userAgent: userAgent('console'), readOnly: true });
  try {
    const http = new HttpCluster({ connection, clock, random });
    const { identity, version } = await checkReading(clusterProbe(http), {
      cluster: name,
      resources: new Set(),
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    });
    return {
      ...{ name, identity, access, connection, server: connection.server, version: version.gitVersion },
      ...{ reader: chainReader(http), writer: http, authorities: await connection.authorities() },
      record() {},
      close: () => connection.destroy(),
    };
  } catch (error) {
    await connection.destroy();
    throw error;
  }
}
