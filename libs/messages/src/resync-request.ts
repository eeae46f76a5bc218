import type { ServiceKey } from './service-key.ts';
import type { Stamp } from './stamp.ts';

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
