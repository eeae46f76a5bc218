import type { ClusterCandidate, InvalidCluster } from './cluster-source.ts';
import type { ClusterState } from './cluster-state.ts';

/** One configured cluster name. */
export interface ClusterEntry {
  candidate: ClusterCandidate;
  readonly stop: AbortController;
  /** Ends a retry delay early, after the candidate has changed. */
  wake: AbortController;
  done: Promise<void>;
  state: ClusterState;
  /** Why writes to the served cluster are paused; undefined if they are not. */
  pausedBecause?: (() => string | undefined) | undefined;
}

/** The state of the cluster, `paused` while writes to it are. */
export function stateOf({ state, pausedBecause }: ClusterEntry): ClusterState {
  const reason = state.phase === 'serving' ? pausedBecause?.() : undefined;
  return reason === undefined ? state : { ...state, phase: 'paused', reason };
}

/** What is known of a cluster that was never connected. */
export function unidentified({ name, from, reason }: InvalidCluster) {
  return { name, from, reason, identity: '', server: '', version: '' };
}
