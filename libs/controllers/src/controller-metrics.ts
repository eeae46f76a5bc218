import type { Mutation, MutationGroup } from '@sluice/model';
import type { CountedSlices, SyncCounts } from './sync-counts.ts';

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
export interface CompletedWrites {
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
