import type { Mutation, MutationGroup } from '@sluice/model';

/** A metric that a controller declares. The label `identity` of a cluster is exposed as its name. */
export interface ControllerMetricRow {
  readonly type: 'counter' | 'histogram' | 'gauge';
  readonly help: string;
  readonly labels: readonly string[];
  /** Upper bounds, ascending. Default: those of the Prometheus client libraries, in seconds. */
  readonly buckets?: readonly number[];
  /** What is exposed if several report a value with the same labels. */
  readonly combine?: 'sum';
}

/** Adds to a counter or histogram of the controller, as a port. `name`: without the prefix. */
export type RecordMetric = (name: string, labels: Readonly<Record<string, string>>, value: number) => void;

/** What a controller measures in the reconciler. Called often: fast, and never throws. `identity`: of the cluster. */
export interface ControllerMetrics {
  /** A decision counted this. */
  decided(identity: string, counts: SyncCounts): void;
  /** A decision led to no plan; it failed or not. */
  ended(identity: string, failed: boolean): void;
  completed(identity: string, plan: CompletedWrites): void;
}

/** A plan whose Outcome has arrived. */
interface CompletedWrites {
  readonly status: string;
  readonly groups: readonly MutationGroup[];
  readonly results: readonly {
    readonly status: 'applied' | 'failed';
    readonly verb: Mutation['verb'];
    readonly group: number;
  }[];
  readonly incomplete: boolean;
  /** From decision to Outcome. */
  readonly tookMs: number;
  /** Null for a clean-up (H6). */
  readonly counted: CountedSlices | null;
}

/** Upper bounds of buckets: `first`, twice that, and so on. */
export const doublingBuckets = (first: number, count: number): readonly number[] =>
  Array.from({ length: count }, (_, i) => first * 2 ** i);

/** 2, 4, 8 … 32768. */
const endpointBuckets = doublingBuckets(2, 15);

export const perSync = (help: string): ControllerMetricRow => ({
  type: 'histogram',
  help,
  labels: ['identity'],
  buckets: endpointBuckets,
});

const sumOf = (help: string, labels: readonly string[] = []): ControllerMetricRow => ({
  type: 'gauge',
  help,
  labels: ['identity', ...labels],
  combine: 'sum',
});

/** The gauges of every controller that counts slices (I1). */
export const sliceGauges = {
  endpoints_desired: sumOf('Number of endpoints desired'),
  num_endpoint_slices: sumOf('Number of EndpointSlices'),
  desired_endpoint_slices: sumOf('Number of EndpointSlices that would exist with perfect endpoint allocation'),
};

/** The gauge of a controller that honours traffic distribution (I2). */
export const trafficDistributionGauge = {
  services_count_by_traffic_distribution: sumOf('Number of Services using some specific trafficDistribution', [
    'traffic_distribution',
  ]),
};

export const counter = (help: string, label: string): ControllerMetricRow => ({
  type: 'counter',
  help,
  labels: ['identity', label],
});

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
