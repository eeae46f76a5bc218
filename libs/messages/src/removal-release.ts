import type { ServiceKey } from './service-key.ts';

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
