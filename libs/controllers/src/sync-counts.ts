export interface SliceTotals {
  readonly endpoints: number;
  readonly slices: number;
  /** Number of slices if all were filled to the maximum. */
  readonly desiredSlices: number;
}

/** Slices of one Service and controller after the last decision is applied. The gauges are sums of these (I1). */
export interface CountedSlices extends SliceTotals {
  /** How the EndpointSlice controller sets hints. Null for mirrored slices, which have none. */
  readonly hinting: Hinting | null;
}

export interface Hinting {
  /** `Auto` if the Service asks for topology hints (F1). */
  readonly topology: 'Auto' | 'Disabled';
  /** The effective `spec.trafficDistribution`, or empty (G1, I2). */
  readonly trafficDistribution: string;
}

/** What one decision of a controller that writes slices contributes to its metrics. */
export interface SyncCounts {
  readonly service: CountedSlices;
}

export interface EndpointSliceCounts extends SyncCounts {
  /** One per wanted address type. */
  readonly addressTypes: readonly AddressTypeCounts[];
}

export interface AddressTypeCounts {
  /** Endpoints that were in no slice. */
  readonly added: number;
  /** Endpoints removed from slices whose ports are still wanted. */
  readonly removed: number;
  /** Creates, updates and deletes of the plan. */
  readonly changed: number;
}

/** A clean-up (H6) contributes nothing. */
export interface MirroringCounts extends SyncCounts {
  readonly added: number;
  readonly updated: number;
  readonly removed: number;
  /** Addresses that are invalid or beyond the maximum of their subset (H17). */
  readonly skipped: number;
}
