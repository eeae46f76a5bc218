import { byIdentity, type ClusterDirectory, type KnownCluster } from './cluster-directory.ts';

/** In-process cluster directory, for a fleet of one process. */
export class MemoryClusterDirectory implements ClusterDirectory {
  readonly #clusters = new Map<string, KnownCluster>();

  async put(cluster: KnownCluster): Promise<void> {
    this.#clusters.set(cluster.identity, cluster);
  }

  async remove(identity: string): Promise<void> {
    this.#clusters.delete(identity);
  }

  async list(): Promise<readonly KnownCluster[]> {
    return byIdentity(this.#clusters.values());
  }
}
