/**
 * `connecting`: first attempt in progress. `unavailable`: cannot be reached or used; retried. `rejected`: invalid, or a
 * duplicate by name or identity. `conflict`: its identity contradicts the pinned one, and an operator must decide (ADR
 * 0053). `serving`: connected. `paused`: connected, but writes are paused (ADR 0054). `stopping`: removed or handed over;
 * work in progress finishes.
 */
export type ClusterPhase = 'connecting' | 'unavailable' | 'rejected' | 'conflict' | 'serving' | 'paused' | 'stopping';

/** State of one configured cluster. */
export interface ClusterState {
  readonly name: string;
  /** Source of the cluster: a file and its context, or a Secret. */
  readonly from: string;
  readonly phase: ClusterPhase;
  /** Reason for the phase, for people; empty if there is none. */
  readonly reason: string;
  /** Time of the first failed attempt in a row to connect, in milliseconds since the Unix epoch; for `unavailable`. */
  readonly since?: number | undefined;
  /** Why its API server does not answer, in a few words; absent if it answers. For `unavailable`. */
  readonly silence?: string | undefined;
  /** uid of its namespace kube-system; empty if not yet known. */
  readonly identity: string;
  readonly server: string;
  readonly version: string;
}
