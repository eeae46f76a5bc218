export interface SliceTotals {
  readonly endpoints: number;
  readonly slices: number;
  /** Slices that would do if all were as full as they may be. */
  readonly desiredSlices: number;
}

/** What one Service has by one controller once the last decision is carried out. The gauges are sums of these (I1). */
export interface CountedSlices extends SliceTotals {
  /** How the EndpointSlice controller hints them; null for mirrored ones, which have no hints. */
  readonly hinting: Hinting | null;
}

export interface Hinting {
  /** `Auto` if the Service asks for topology hints (F1). */
  readonly topology: 'Auto' | 'Disabled';
  /** The valid `spec.trafficDistribution` that is in effect, or empty (G1, I2). */
  readonly trafficDistribution: string;
}

/** What one decision of the EndpointSlice controller adds to its metrics. */
export interface EndpointSliceCounts {
  readonly of: 'endpointslice';
  readonly service: CountedSlices;
  /** One per wanted address type. */
  readonly addressTypes: readonly AddressTypeCounts[];
}

export interface AddressTypeCounts {
  /** Endpoints that were in none of the slices. */
  readonly added: number;
  /** Endpoints taken from slices whose ports are still wanted. */
  readonly removed: number;
  /** Creates, updates and deletes of the plan. */
  readonly changed: number;
}

/** What one decision of the EndpointSliceMirroring controller adds to its metrics. A clean-up (H6) adds nothing. */
export interface MirroringCounts {
  readonly of: 'endpointslicemirroring';
  readonly service: CountedSlices;
  readonly added: number;
  readonly updated: number;
  readonly removed: number;
  /** Addresses that are no IP or beyond the maximum of their subset (H17). */
  readonly skipped: number;
}

export type SyncCounts = EndpointSliceCounts | MirroringCounts;
