/** The clusters of a fleet: written by the watcher and the writers of each cluster, read by the console. For display only. */
export interface ClusterDirectory {
  /** Adds the cluster or replaces the entry with the same identity. */
  put(cluster: KnownCluster): Promise<void>;
  /**
   * Says why the fleet's writes to the cluster are paused; undefined: they are not. Returns false, and does nothing, if they are paused
   * and the cluster is not listed: it may have been removed.
   */
  setPaused(identity: string, reason: string | undefined): Promise<boolean>;
  /** Removes the cluster; does nothing if it is not listed. */
  remove(identity: string): Promise<void>;
  /** Sorted by identity. */
  list(): Promise<readonly KnownCluster[]>;
}

export interface KnownCluster {
  /** UID of the cluster's namespace kube-system. */
  readonly identity: string;
  /** Name in the watcher's configuration. */
  readonly name: string;
  /** Kubernetes version, such as `v1.36.3`. */
  readonly version: string;
  /** URL of the API server, without credentials. */
  readonly server: string;
  /** What the source is that listed it: a process that reads that source knows when the cluster is removed from it. */
  readonly source?: string;
  /** Set while the API server does not answer. */
  readonly outage?: Outage;
  /** Why writes are paused, from `setPaused`; `put` ignores it. */
  readonly paused?: string;
}

/** A server does not answer. */
export interface Outage {
  /**
   * Its last answer before it stopped answering or became unusable, in milliseconds since the Unix epoch: what is known of it is not
   * newer. If it has never answered, the first attempt.
   */
  readonly since: number;
  /** For people, for example `connection refused`. */
  readonly reason: string;
  /** True: it answers, but cannot be used. */
  readonly answers?: boolean;
  /** True: it has not answered since its watcher started, so what is known of it is from before. */
  readonly neverAnswered?: boolean;
}

const unidentifiedPrefix = 'unidentified/';

/** Stands for the identity of a cluster that has not answered yet. */
export const unidentified = (name: string): string => `${unidentifiedPrefix}${name}`;

export const isUnidentified = (identity: string): boolean => identity.startsWith(unidentifiedPrefix);

export function byIdentity(clusters: Iterable<KnownCluster>): readonly KnownCluster[] {
  return [...clusters].sort((a, b) => (a.identity < b.identity ? -1 : 1));
}

/** Adds why writes are paused, by identity. */
export function withPauses(
  clusters: readonly KnownCluster[],
  pauses: ReadonlyMap<string, string>,
): readonly KnownCluster[] {
  return clusters.map((cluster) => {
    const paused = pauses.get(cluster.identity);
    return paused === undefined ? cluster : { ...cluster, paused };
  });
}

/** A small document of the whole fleet that is replaced as a whole. */
export interface StoredDocument {
  /** Returns null if there is no document. */
  read(): Promise<string | null>;
  /** Replaces the document if it still equals `expected`; null: if there is none. Returns whether it did. */
  replace(expected: string | null, next: string): Promise<boolean>;
}

/** The pinned identities of a fleet's clusters (ADR 0053). */
export type ClusterPins = StoredDocument;
