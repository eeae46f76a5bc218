import type { ClusterAccess } from '@sluice/kubernetes';
import type { Clock, Logger, Random } from '@sluice/platform';
import type { StoredIdentities } from '../identity/identity-registry.ts';
import type { ConnectedCluster } from './cluster.ts';
import type { ClusterSource } from './cluster-source.ts';

/** Why serving a cluster stops. */
export type StopReason =
  /** This process exits, or the connection to the cluster changes. */
  | 'handover'
  /** The cluster is no longer configured, or its identity changed: its state is removed. */
  | 'removed';

export interface ClusterSetOptions {
  readonly sources: readonly ClusterSource[];
  /** Connects to the cluster of this name and reads its identity. Rejects with the reason, or when `signal` aborts. */
  readonly open: (access: ClusterAccess, signal: AbortSignal, name: string) => Promise<ConnectedCluster>;
  /** Called once a connected cluster is to be served. Rejects with the reason why it must not be written. Default: no guard. */
  readonly guard?: (cluster: ConnectedCluster, signal: AbortSignal) => Promise<ConnectedCluster>;
  /** Serves a cluster until `signal` aborts, with a StopReason as its reason, and all work in progress is done. */
  readonly serve: (cluster: ConnectedCluster, signal: AbortSignal) => Promise<unknown>;
  /** Called after a cluster was removed and serving it has stopped. */
  readonly onRemoved?: (cluster: ConnectedCluster) => Promise<unknown>;
  /** Pinned identities: a cluster is served only while they admit it. Default: every cluster is admitted. */
  readonly identities?: StoredIdentities | undefined;
  /** Interval between reads of a source and checks of pinned identities, in milliseconds. Default 5,000. */
  readonly refreshMs?: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}
