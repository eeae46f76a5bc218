/**
 * `connecting`: not reached yet. `unavailable`: cannot be reached or used, with the reason; tried again and again.
 * `refused`: another one has its name or is the same cluster, or nothing can be made of it. `serving`: reached.
 * `draining`: removed; what is under way comes to its end.
 */
export type ClusterPhase = 'connecting' | 'unavailable' | 'refused' | 'serving' | 'draining';

export const clusterPhases: readonly ClusterPhase[] = ['connecting', 'unavailable', 'refused', 'serving', 'draining'];

/** Where one cluster of this process stands. */
export interface ClusterState {
  readonly name: string;
  /** Where it comes from. */
  readonly from: string;
  readonly phase: ClusterPhase;
  /** For people; empty where there is nothing to say. */
  readonly reason: string;
  /** uid of its namespace kube-system; empty while that is not known. */
  readonly identity: string;
  readonly server: string;
  readonly version: string;
}
