import type { ClusterAccess } from '@sluice/kubernetes';

/** A cluster found in a source. */
export interface ClusterCandidate {
  /** For people. */
  readonly name: string;
  /** Where it comes from, for people: a file and its context, or a Secret. */
  readonly from: string;
  /** Another one means that the cluster is to be reached in another way. */
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
  /** A single file, which somebody has just named. */
  readonly isFile?: boolean;
  /** As of now. Fails if it cannot be read at all; then what was read before stays. */
  read(signal: AbortSignal): Promise<SourceReading>;
}
