import { byIdentity, type ClusterDirectory, type KnownCluster, withPauses } from './cluster-directory.ts';

/** In-process cluster directory, for a fleet of one process. */
export class MemoryClusterDirectory implements ClusterDirectory {
  readonly #clusters = new Map<string, KnownCluster>();

  readonly #pauses = new Map<string, string>();

  async put({ paused: _, ...cluster }: KnownCluster): Promise<void> {
    this.#clusters.set(cluster.identity, cluster);
  }

  async setPaused(identity: string, reason: string | undefined): Promise<void> {
    if (reason === undefined) this.#pauses.delete(identity);
    else this.#pauses.set(identity, reason);
  }

  async remove(identity: string): Promise<void> {
    this.#clusters.delete(identity);
    this.#pauses.delete(identity);
  }

  async list(): Promise<readonly KnownCluster[]> {
    return withPauses(byIdentity(this.#clusters.values()), this.#pauses);
  }
}
