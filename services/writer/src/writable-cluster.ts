import type { EventToRecord } from '@sluice/controllers';
import type { ClusterWriter } from '@sluice/kubernetes';
import type { RemovalBrake } from './removal-brake.ts';
import type { RequestLimit } from './sending.ts';

/** A cluster as the writer needs it. */
export interface WritableCluster {
  readonly writer: ClusterWriter;
  /** Address of its API server, if it has one. */
  readonly server?: string | undefined;
  /** When its requests are let through. */
  readonly limit: RequestLimit;
  /** Default: nothing that is removed needs to be confirmed. */
  readonly brake?: RemovalBrake;
  /** Records Kubernetes Events, as best it can: it never fails. */
  record(events: readonly EventToRecord[]): void;
}
