/**
 * The fleet no longer serves a cluster: its state is discarded and nothing is written for it. Published to every partition
 * of `changes`, with the cluster's identity as the key.
 */
export interface ClusterRemoved {
  readonly kind: 'clusterRemoved';
  /** Identity of the cluster. */
  readonly cluster: string;
  /** Epoch of the cluster's last watcher; state published under a later epoch stays. */
  readonly epoch: number;
  /** In milliseconds since the Unix epoch. Watchers before version 1.5 of the messages leave it out. */
  readonly removedAt?: number;
}
