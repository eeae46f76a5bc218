import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import type { ClusterView } from '@sluice/console';
import type { Cluster, FleetIdentity, Leadership } from '@sluice/fleet/clusters';
import type { LeaderElectionConfiguration } from '@sluice/fleet/configuration';
import type { ClusterAccess } from '@sluice/kubernetes';
import type { Health, Metrics } from '@sluice/telemetry';
import type { AllInOne, AllInOneOptions } from '../../composition/all-in-one.ts';
import type { Demo } from './demo-commands.ts';

/** What serves the clusters. An observer has nothing to write again. */
export type Serving = Pick<AllInOne, 'serve' | 'removeCluster'> & Partial<Pick<AllInOne, 'resync'>>;

/** The clusters that one process serves: one that is known at start, or a set that changes at run time. */
export interface ServedClusters {
  /** Lines to print at startup. */
  readonly introduction: readonly string[];
  /** Undefined for real clusters. */
  readonly demo?: Demo | undefined;
  /** Clusters to serve from the start. */
  readonly initial: readonly Cluster[];
  /** Cluster names by identity, for metrics. */
  readonly names: ReadonlyMap<string, string>;
  /** How the clusters are reached that are connected, by identity. Empty for the simulated cluster. */
  readonly accesses: ReadonlyMap<string, ClusterAccess>;
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
  run(services: Serving, signal: AbortSignal): Promise<unknown>;
  /** Stops the source of changes, if this process owns it. */
  pause(): void;
  close(): Promise<void>;
}

/** New with each start, so that two processes of one host are distinct. */
export const processId = `${hostname()}_${process.pid}_${randomBytes(4).toString('hex')}`;

/**
 * `sluice run` is a fleet of one process: a clean exit releases the claims, and those of a crashed process expire. Processes
 * that elect a leader with one Lease are one fleet, so the next leader need not wait for the claim.
 */
export function processFleet(election?: LeaderElectionConfiguration): FleetIdentity {
  const name = 'sluice run';
  if (election === undefined) return { name, id: async () => processId, releases: true };
  return { name, id: async () => `${election.resourceNamespace}.${election.resourceName}` };
}
