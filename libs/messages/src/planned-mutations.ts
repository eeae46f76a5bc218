import type { Controller, EventToRecord, MutationGroup } from '@sluice/model';
import type { Causes } from './cause.ts';
import type { ReadyEndpointsDelta } from './ready-endpoints-delta.ts';
import type { ServiceKey } from './service-key.ts';
import type { Stamp } from './stamp.ts';

/** Identifies a plan. `number` increases with each plan of a partition, across Services; `epoch` with each partition owner. */
export interface PlanId {
  readonly epoch: number;
  readonly number: number;
}

/** Settings of the reconciler that differ from the defaults. Times in milliseconds. */
export interface LoggedSettings {
  readonly controllers?: readonly Controller[] | undefined;
  readonly maxEndpointsPerSlice?: number | undefined;
  readonly maxEndpointsPerSubset?: number | undefined;
  readonly batchPeriodMs?: Readonly<Record<Controller, number>> | undefined;
  readonly batching?: { readonly freshnessTargetMs: number; readonly watchers: number } | null | undefined;
  readonly backoff?: { readonly baseMs: number; readonly maxMs: number } | undefined;
  readonly maxAttempts?: number | undefined;
  readonly parkedRetryMs?: number | null | undefined;
}

/** What had been applied to the state of the Service when a plan was decided. It orders the two topics when they are read again. */
export interface PlanBasis {
  /** Stamp of the last Change. */
  readonly stamp: Stamp;
  /** Numbers of the plans of other controllers whose Outcome was pending. */
  readonly inFlight: readonly number[];
  /** Absent: the defaults. */
  readonly settings?: LoggedSettings;
}

/** The plan of one controller for one Service. Message of the topic `mutations`. */
export interface PlannedMutations {
  readonly kind: 'mutations';
  readonly key: ServiceKey;
  readonly controller: Controller;
  readonly plan: PlanId;
  readonly groups: readonly MutationGroup[];
  readonly events: readonly EventToRecord[];
  /** Reasons why the plan is incomplete (E15); reported with its failure event. */
  readonly incomplete: readonly string[];
  /** UID of the Service on which failures are reported; empty if it does not exist. */
  readonly serviceUid: string;
  /** Absent if the number of ready endpoints does not change. */
  readonly ready?: ReadyEndpointsDelta;
  /** Number of consecutive plans that only repaired changes by others to the written objects; absent below a threshold. */
  readonly consecutiveRepairs?: number;
  /** Slices removed and endpoints moved, if the plan only compacts slices. */
  readonly compaction?: { readonly removed: number; readonly moved: number };
  readonly causes: Causes;
  readonly basis?: PlanBasis;
  /** Time of the decision, in milliseconds since the Unix epoch. */
  readonly decidedAt: number;
}

export function comparePlans(a: PlanId, b: PlanId): number {
  return a.epoch - b.epoch || a.number - b.number;
}

export function isPlanId(value: unknown): value is PlanId {
  if (typeof value !== 'object' || value === null || !('epoch' in value) || !('number' in value)) return false;
  return Number.isInteger(value.epoch) && Number.isInteger(value.number);
}
