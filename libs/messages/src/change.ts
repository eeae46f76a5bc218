import type { EndpointSlice, Endpoints, NodePlacement, NodeTopology, Pod, Service } from '@sluice/controllers';
import type { Causes } from './cause.ts';
import type { Digest } from './digest.ts';
import type { ServiceKey } from './service-key.ts';
import type { Stamp } from './stamp.ts';

/**
 * What a watcher saw, as far as it concerns one Service. It carries the full projected state of what it names, or its
 * absence, so folding it twice changes nothing.
 */
export interface Change {
  readonly kind: 'change';
  readonly key: ServiceKey;
  readonly stamp: Stamp;
  /** `n` of the Change that this watcher sent to this partition before it; 0: none. Shows that one is missing. */
  readonly previousSequence?: number;
  /** Epoch of the watcher that sent `previous`, if it was another one than this. */
  readonly previousEpoch?: number;
  readonly facts: readonly Fact[];
  /**
   * Up to which resourceVersion all that concerns this Service has been told, once this Change is folded: an object that
   * was stored before that, and of which the watcher has never told, is gone. Absent if more of the same is to follow.
   */
  readonly resourceVersions?: PublishedResourceVersions;
  /** Set on the messages of a snapshot: all that the watcher knows of this Service. */
  readonly snapshot?: SnapshotPart;
  /** Of all that is told of this Service, once this Change is folded: for comparison with what has arrived. */
  readonly digest?: Digest;
  readonly causes: Causes;
}

export type Fact =
  | { readonly kind: 'service'; readonly service: Service | null }
  | { readonly kind: 'pod'; readonly name: string; readonly pod: Pod | null; readonly node: NodePlacement | null }
  /** `uid`, where the object is absent: of the one that is gone. Another of the same name is not meant. */
  | { readonly kind: 'endpoints'; readonly endpoints: Endpoints | null; readonly uid: string }
  | {
      readonly kind: 'slice';
      readonly name: string;
      readonly slice: EndpointSlice | null;
      readonly uid: string;
      /** Where `slice` is null: it is there, but its labels do not make it this Service's any more. */
      readonly relabelled?: true;
    }
  /** Node ratios of the cluster, sent only to Services that ask for topology hints. */
  | { readonly kind: 'topology'; readonly topology: NodeTopology | null };

/** Per resource that the controllers write, since its resourceVersions are compared. */
export interface PublishedResourceVersions {
  readonly endpoints: string;
  readonly endpointslices: string;
}

/**
 * A snapshot is bracketed: what its end does not find asserted since its beginning is gone. Between, nothing is
 * decided for the Service.
 */
export interface SnapshotPart {
  readonly first: boolean;
  readonly last: boolean;
  /** The first snapshot of this watcher: leftover Endpoints of Services that are no more are swept (D4). */
  readonly initial: boolean;
  /** Up to which resourceVersion the snapshot speaks; a slice or Endpoints written later than that is not gone. */
  readonly resourceVersions: PublishedResourceVersions;
}
