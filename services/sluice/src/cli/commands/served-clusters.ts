import type { ClusterView } from '@sluice/console';
import type { Cluster, Leadership } from '@sluice/fleet/clusters';
import type { Health, Metrics } from '@sluice/telemetry';
import type { AllInOne, AllInOneOptions } from '../../composition/all-in-one.ts';

/** The clusters that one process serves: one that is known at start, or a set that changes at run time. */
export interface ServedClusters {
  /** Lines to print at startup. */
  readonly introduction: readonly string[];
  /** Clusters to serve from the start. */
  readonly initial: readonly Cluster[];
  /** Cluster names by identity, for metrics. */
  readonly names: ReadonlyMap<string, string>;
  /** Default: there is no election. */
  readonly leadership?: Leadership | undefined;
  readonly phases: NonNullable<ConstructorParameters<typeof Metrics>[0]['phases']>;
  /** Default: not exposed. */
  readonly threadUses?: ConstructorParameters<typeof Metrics>[0]['threadUses'];
  readonly hooks: Pick<AllInOneOptions, 'mayConnect' | 'onSynced' | 'onAvailability' | 'onCompetingController'>;
  readonly health: Health;
  views(): readonly ClusterView[];
  /** Called once the caches of the initial clusters are synced. */
  synced(): void;
  /** Serves clusters that come and go until `signal` aborts. */
  run(services: AllInOne, signal: AbortSignal): Promise<unknown>;
  /** Stops the source of changes, if this process owns it. */
  pause(): void;
  close(): Promise<void>;
}
