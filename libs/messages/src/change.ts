import type { EndpointSlice, Endpoints, NodePlacement, NodeTopology, Pod, Service } from '@sluice/model';
import type { Causes } from './cause.ts';
import type { ServiceKey, Stamp } from './identifiers.ts';

/**
 * A change that a watcher observed, for one Service. Each fact is the full projected state of an object or its absence, so
 * applying a Change twice has no effect.
 */
export interface Change {
  readonly kind: 'change';
  readonly key: ServiceKey;
  readonly stamp: Stamp;
  /** Sequence of the watcher's previous Change in this partition, 0 for none; reveals gaps. */
  readonly previousSequence?: number;
  /** Epoch under which the previous Change was published, if different from `stamp.epoch`. */
  readonly previousEpoch?: number;
  readonly facts: readonly Fact[];
  /**
   * resourceVersion up to which this Service's objects are published, once this Change is applied: an object written
   * before it that was never published is deleted. Absent if more Changes of the same batch follow.
   */
  readonly resourceVersions?: PublishedResourceVersions;
  /** Set on the messages of a snapshot, which holds all published state of the Service. */
  readonly snapshot?: SnapshotPart;
  /**
   * Why the Service's objects cannot be published: one exceeds what the bus accepts. The Change then has no facts, and the
   * next one that fits is a snapshot.
   */
  readonly unpublishable?: string;
  /** Digest of the Service's published state once this Change is applied, to compare with the reconciler's state. */
  readonly digest?: Digest;
  readonly causes: Causes;
}

/** Pods that a selector without Pods probably means. */
export interface SimilarPods {
  /** The label that resembles the selector, or the selector itself if it matches in another namespace: `app=cart`. */
  readonly label: string;
  readonly pods: number;
  /** Where they are. Default: in the namespace of the Service. */
  readonly namespace?: string | undefined;
}

export type Fact =
  | {
      readonly kind: 'service';
      readonly service: Service | null;
      /** Set if the selector matches no Pod, but resembles the labels of some, or matches in another namespace; for display. */
      readonly similarPods?: SimilarPods;
    }
  | { readonly kind: 'pod'; readonly name: string; readonly pod: Pod | null; readonly node: NodePlacement | null }
  /** If the object is null, `uid` identifies the deleted one; another object of that name is not affected. */
  | {
      readonly kind: 'endpoints';
      readonly endpoints: Endpoints | null;
      readonly uid: string;
      /** As of a slice. */
      readonly manager?: string;
    }
  | {
      readonly kind: 'slice';
      readonly name: string;
      readonly slice: EndpointSlice | null;
      readonly uid: string;
      /** If `slice` is null: the slice exists, but its labels no longer select this Service. */
      readonly relabelled?: true;
      /** Field manager of the last write, if it is not Sluice; for display. */
      readonly manager?: string;
      /** Set with `relabelled`: the Service that the label names now; empty if the label is gone. For display. */
      readonly labelledFor?: string;
    }
  /** Node ratios of the cluster, sent only to Services with topology hints enabled. */
  | {
      readonly kind: 'topology';
      readonly topology: NodeTopology | null;
      /** Number of Services of the cluster that the ratios are sent to. Absent if `topology` is null. */
      readonly hintedServices?: number;
    };

/** One per resource that the controllers write; resourceVersions are compared only within one resource. */
export interface PublishedResourceVersions {
  readonly endpoints: string;
  readonly endpointslices: string;
}

/**
 * A snapshot is bracketed: objects that it does not confirm between its first and last part are deleted. No decision is
 * made for the Service in between.
 */
export interface SnapshotPart {
  readonly first: boolean;
  readonly last: boolean;
  /** Part of the watcher's first snapshot: Endpoints left over from deleted Services are removed (D4). */
  readonly initial: boolean;
  /** resourceVersions of the snapshot; a slice or Endpoints written later is not deleted by it. */
  readonly resourceVersions: PublishedResourceVersions;
  /** Resources that the watcher does not watch, because its controllers need none of them or it may not. Default: none. */
  readonly unwatched?: readonly string[] | undefined;
}

/**
 * The fleet no longer serves a cluster: its state is discarded and nothing is written for it. Published to every partition
 * of `changes`, with the cluster's identity as the key.
 */
export interface ClusterRemoved {
  readonly kind: 'clusterRemoved';
  /** Identity of the cluster. */
  readonly cluster: string;
  /** Epoch of the cluster's last watcher; state published under a later epoch stays. */
  readonly epoch: number;
  /** In milliseconds since the Unix epoch. Watchers before version 1.5 of the messages leave it out. */
  readonly removedAt?: number;
}

/**
 * Digest of the facts about one Service; equal digests mean equal facts, independent of their order. Facts that only
 * watchers publish are hashed. Objects that Sluice writes are listed with their versions, because the reconciler may know
 * newer versions from Outcomes than the watcher.
 */
export interface Digest {
  /** Digest algorithm; digests of different forms cannot be compared. */
  readonly version: number;
  /** Hash; empty if there is no such fact. The same for `pods` and `topology`. */
  readonly service: string;
  readonly pods: string;
  readonly topology: string;
  /** At most one. */
  readonly endpoints: readonly ObjectReference[];
  readonly slices: readonly ObjectReference[];
}

/** One version of an object. */
export interface ObjectReference {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
}

/** Increased when facts change their meaning or their hashing changes. Fields that are only added need no new version. */
export const digestVersion = 3;
