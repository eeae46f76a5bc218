import type {
  ClusterAccess,
  ClusterChecks,
  ClusterReader,
  ClusterWriter,
  Connection,
  NamespaceScope,
} from '@sluice/kubernetes';
import type { Controller, EventToRecord } from '@sluice/model';
import type { ClusterCandidate, InvalidCluster } from './cluster-source.ts';

/** One cluster of the fleet. */
export interface Cluster {
  /** For people. */
  readonly name: string;
  /** uid of its namespace kube-system; derived from its address if only some namespaces are read. */
  readonly identity: string;
  /** Address of its API server, if it has one. */
  readonly server?: string;
  readonly reader: ClusterReader;
  /** By namespace, if no others are read: each is watched on its own, with this reader. `reader` is the first. */
  readonly readers?: ReadonlyMap<string, ClusterReader> | undefined;
  readonly writer: ClusterWriter;
  /** What each write must pass. Default: nothing. */
  readonly checks?: ClusterChecks;
  readonly record: (events: readonly EventToRecord[]) => void;
}

/**
 * `connecting`: first attempt in progress. `unavailable`: cannot be reached or used; retried. `rejected`: invalid, or a
 * duplicate by name or identity. `conflict`: its identity contradicts the pinned one, and an operator must decide (ADR
 * 0053). `serving`: connected. `paused`: connected, but writes are paused (ADR 0054). `stopping`: removed or handed over;
 * work in progress finishes.
 */
type ClusterPhase = 'connecting' | 'unavailable' | 'rejected' | 'conflict' | 'serving' | 'paused' | 'stopping';

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

/** What a leader election decides for this process (ADR 0071). */
export interface Leadership {
  /** Resolves once this process is the leader and may write; rejects if it must not serve the cluster. */
  readonly started: Promise<unknown>;
  /** Resolves when it is no longer the leader, and rejects as `started` does. The process must end then. */
  readonly ended: Promise<unknown>;
  readonly isLeader: boolean;
}

/** A cluster that passed its preflight checks. */
export interface ConnectedCluster extends Cluster {
  readonly server: string;
  readonly connection: Connection;
  /** How it is reached, for connections of other users. Default: by nobody else. */
  readonly access?: ClusterAccess;
  /** The controllers that run. Default: all. */
  readonly controllers?: ReadonlySet<Controller> | undefined;
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
