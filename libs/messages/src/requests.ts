import type { ServiceKey, Stamp } from './identifiers.ts';

/**
 * Asks the watchers to publish snapshots again: of all Services in a partition of `changes`, of those of one cluster in it,
 * of one Service, or of all Services of a cluster that was restored from a backup, as the Change with this stamp proves.
 * Message of the topic `requests`.
 */
export interface ResyncRequest {
  readonly kind: 'resync';
  readonly scope:
    | { readonly partition: number; readonly cluster?: string | undefined }
    | { readonly key: ServiceKey }
    | { readonly restoredCluster: string; readonly stamp: Stamp };
  /** What was lost; for display. */
  readonly reason: string;
}

/**
 * Requests that the endpoints of a Service's partly empty slices are moved into fewer slices. Message of the topic `changes`,
 * in the Service's partition. Nothing happens if the Service's slices change within the next minute anyway.
 */
export interface CompactionRequest {
  readonly kind: 'compaction';
  readonly key: ServiceKey;
  /** Who requests it, for history and traces. */
  readonly reason: string;
  /** Milliseconds since the Unix epoch. */
  readonly requestedAt: number;
  /** Maximum number of updates and deletes. */
  readonly maxWrites: number;
  /** Do nothing that takes more updates than it deletes slices. */
  readonly onlyWorthwhile: boolean;
}

/**
 * An operator releases a held-back removal of a Service's endpoints. Message of the topic `changes`, in the Service's
 * partition: the next plan for the Service is applied without verification in the cluster.
 */
export interface RemovalRelease {
  readonly kind: 'release';
  readonly key: ServiceKey;
  /** Milliseconds since the Unix epoch. */
  readonly releasedAt: number;
}
