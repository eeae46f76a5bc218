import type { ClusterAccess } from '@sluice/kubernetes';

/** A cluster found in a source. */
export interface ClusterCandidate {
  /** For people. */
  readonly name: string;
  /** Source of the cluster: a file and its context, or a Secret. */
  readonly from: string;
  /** What the source is: `about` of its ClusterSource, once it is listed. */
  readonly source?: string;
  /** Changes whenever the connection settings change. */
  readonly fingerprint: string;
  /** Throws KubeconfigError. */
  load(): Promise<ClusterAccess>;
}

/** An entry of a source that cannot be used as a cluster. */
export interface InvalidCluster {
  readonly name: string;
  readonly from: string;
  readonly reason: string;
}

export interface SourceReading {
  readonly candidates: readonly ClusterCandidate[];
  readonly problems: readonly InvalidCluster[];
}

/** A source of clusters, which can change over time. */
export interface ClusterSource {
  readonly about: string;
  /** Whether this is a single file, whose errors are reported at start instead of being retried. */
  readonly isFile?: boolean;
  /** Returns the current clusters. Rejects if the source cannot be read; its known clusters then stay. */
  read(signal: AbortSignal): Promise<SourceReading>;
}
