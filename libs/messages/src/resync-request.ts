import type { ServiceKey } from './service-key.ts';

/**
 * Asks the watchers to publish snapshots again: of all Services in a partition of `changes`, of those of one cluster in it,
 * or of one Service. Message of the topic `requests`.
 */
export interface ResyncRequest {
  readonly kind: 'resync';
  readonly scope: { readonly partition: number; readonly cluster?: string | undefined } | { readonly key: ServiceKey };
  /** What was lost; for display. */
  readonly reason: string;
}
