import type { ServiceKey } from './service-key.ts';

/**
 * Asks the watchers to tell again what they know: of all Services of a partition of `changes`, or of one Service. Message
 * of the topic `requests`, to every watcher.
 */
export interface ResyncRequest {
  readonly kind: 'resync';
  readonly scope: { readonly partition: number } | { readonly key: ServiceKey };
  /** For people: what was lost. */
  readonly reason: string;
}
