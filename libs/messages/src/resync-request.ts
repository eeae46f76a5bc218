import type { ServiceKey } from './service-key.ts';

/**
 * Asks all watchers to publish snapshots again: of all Services in a partition of `changes`, or of one Service. Message of
 * the topic `requests`.
 */
export interface ResyncRequest {
  readonly kind: 'resync';
  readonly scope: { readonly partition: number } | { readonly key: ServiceKey };
  /** What was lost; for display. */
  readonly reason: string;
}
