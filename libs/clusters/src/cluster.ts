import type { EventToRecord } from '@sluice/controllers';
import type { ClusterChecks, ClusterReader, ClusterWriter } from '@sluice/kubernetes';

/** One cluster of the fleet. */
export interface Cluster {
  /** For people. */
  readonly name: string;
  /** uid of its namespace kube-system. */
  readonly identity: string;
  /** Address of its API server, if it has one. */
  readonly server?: string;
  readonly reader: ClusterReader;
  readonly writer: ClusterWriter;
  /** What each write must pass. Default: nothing. */
  readonly checks?: ClusterChecks;
  readonly record: (events: readonly EventToRecord[]) => void;
}
