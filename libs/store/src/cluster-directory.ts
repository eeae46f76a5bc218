/**
 * Which clusters a fleet has: told and forgotten by whoever watches one, read by whoever shows them to people. Nothing is
 * decided by it.
 */
export interface ClusterDirectory {
  /** Takes the place of what was told of the same identity before. */
  put(cluster: KnownCluster): Promise<void>;
  /** It is not the fleet's any more. Nothing happens if nobody told of it. */
  remove(identity: string): Promise<void>;
  /** By identity. */
  list(): Promise<readonly KnownCluster[]>;
}

export interface KnownCluster {
  /** uid of its namespace kube-system. */
  readonly identity: string;
  /** As the configuration of who watches it has it. */
  readonly name: string;
  /** Of Kubernetes, such as `v1.36.3`. */
  readonly version: string;
  /** Its address, without credentials. */
  readonly server: string;
}

export function byIdentity(clusters: Iterable<KnownCluster>): readonly KnownCluster[] {
  return [...clusters].sort((a, b) => (a.identity < b.identity ? -1 : 1));
}
