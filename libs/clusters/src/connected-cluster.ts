import type { Connection, NamespaceScope } from '@sluice/kubernetes';
import type { Cluster } from './cluster.ts';

/** What a leader election decides for this process (ADR 0071). */
export interface Leadership {
  /** Resolves once this process is the leader and may write; rejects if it must not serve the cluster. */
  readonly started: Promise<unknown>;
  /** Resolves when it is not the leader anymore, and rejects as `started` does. The process must end then. */
  readonly ended: Promise<unknown>;
  readonly isLeader: boolean;
}

/** A cluster that passed its preflight checks. */
export interface ConnectedCluster extends Cluster {
  readonly server: string;
  readonly connection: Connection;
  readonly version: string;
  /** What the source is that lists the cluster. */
  readonly source?: string;
  /** The namespaces that are served. Default: all. */
  readonly namespaces?: NamespaceScope | undefined;
  /** Fingerprints of the certificate authorities of its server. Default: none. */
  readonly authorities?: readonly string[];
  /** Why writes are paused at the moment; undefined if they are not. */
  readonly writesPausedBecause?: () => string | undefined;
  /** Default: there is no election, and this process may write. */
  readonly leadership?: Leadership | undefined;
  /** Aborts requests in flight and closes all connections. */
  close(): Promise<void>;
}
