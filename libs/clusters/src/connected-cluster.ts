import type { Connection, NamespaceScope } from '@sluice/kubernetes';
import type { Cluster } from './cluster.ts';

/** A cluster that passed its preflight checks. */
export interface ConnectedCluster extends Cluster {
  readonly server: string;
  readonly connection: Connection;
  readonly version: string;
  /** The namespaces that are served. Default: all. */
  readonly namespaces?: NamespaceScope | undefined;
  /** Fingerprints of the certificate authorities of its server. Default: none. */
  readonly authorities?: readonly string[];
  /** Why writes are paused at the moment; undefined if they are not. */
  readonly writesPausedBecause?: () => string | undefined;
  /** Aborts requests in flight and closes all connections. */
  close(): Promise<void>;
}
