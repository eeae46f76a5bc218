import type { VirtualClock } from '@sluice/platform';
import type { FaultyBus } from './doubles/faulty-bus.ts';
import type { Operations } from './doubles/operations.ts';
import type { SimulatedBus } from './doubles/simulated-bus.ts';
import type { SimulatedStore, StoreBackup } from './doubles/simulated-store.ts';
import type { StoreFaults } from './doubles/store-faults.ts';
import type { Fleet } from './fleet.ts';
import type { SimulatedCluster } from './simulated-cluster.ts';

/** What faults act on. */
export interface World {
  readonly clock: VirtualClock;
  readonly clusters: readonly SimulatedCluster[];
  readonly fleet: Fleet;
  readonly bus: FaultyBus;
  readonly log: SimulatedBus;
  readonly store: SimulatedStore;
  readonly storeFaults: StoreFaults;
  readonly operations: Operations;
  /** Backups of the store taken so far. */
  readonly backups: readonly StoreBackup[];
}
