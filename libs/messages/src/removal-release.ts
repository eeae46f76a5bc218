import type { ServiceKey } from './service-key.ts';

/**
 * A person lets the endpoints of a Service go whose removal is held back. Message of the topic `changes`, in the Service's
 * partition: what is decided next for it is not looked at in the cluster.
 */
export interface RemovalRelease {
  readonly kind: 'release';
  readonly key: ServiceKey;
  /** When it was said, in milliseconds since the Unix epoch. */
  readonly releasedAt: number;
}
