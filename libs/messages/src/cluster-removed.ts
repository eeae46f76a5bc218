/**
 * The fleet does not serve a cluster any more: nothing of it is to be kept, and nothing to be written for it. Message of
 * the topic `changes`, to each partition, under the cluster's identity as its key.
 */
export interface ClusterRemoved {
  readonly kind: 'clusterRemoved';
  /** Identity of the cluster. */
  readonly cluster: string;
  /** Of the watcher that was the cluster's last. What a later one has told stays. */
  readonly epoch: number;
}
