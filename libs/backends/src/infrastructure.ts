import type { Bus } from '@sluice/bus';
import type { ClusterDirectory, ClusterPins, DeadLetters, Leases, Store, StoreProblem } from '@sluice/store';

import type { FleetGeneration } from './fleet-generation.ts';

/** Bus and store of a fleet, as its roles use them. */
export interface Infrastructure {
  readonly bus: Bus;
  readonly store: Store;
  readonly leases: Leases;
  readonly deadLetters: DeadLetters;
  /** Undefined: the number of partitions never changes. */
  readonly generation?: FleetGeneration;
  /** Undefined if the clusters of the fleet are not listed. */
  readonly directory?: ClusterDirectory;
  /** Undefined: cluster identities are not pinned. */
  readonly clusterPins?: ClusterPins;
  /** Settings of the store's servers that can lose data, as of the last check. Undefined if nothing checks them. */
  readonly storeProblems?: () => readonly StoreProblem[];
  /** Why no server of bus or store accepts a connection: `connection refused`. Undefined: one does. */
  readonly whyUnreachable?: (backend: 'bus' | 'store') => Promise<string | undefined>;
}
