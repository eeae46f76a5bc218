import type { ServiceKey } from './service-key.ts';

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
