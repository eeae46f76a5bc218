import type { Controller, EventToRecord, MutationGroup } from '@sluice/model';
import type { Causes } from './cause.ts';
import type { PlanId, ServiceKey, Stamp } from './identifiers.ts';

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
interface PlanBasis {
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

/** How a plan changes the ready endpoints, for the mass-removal and mass-addition guards (ADR 0029). */
export interface ReadyEndpointsDelta {
  /** Change in the Service's ready endpoints; negative for removals. */
  readonly delta: number;
  /** Ready endpoints of the cluster's Services in this partition before the plan. */
  readonly total: number;
  /** A guard held the previous plan back. */
  readonly repeated?: true;
  /** An operator released the change. */
  readonly released?: true;
  /** Facts that justify the removal, to be verified in the cluster. Absent if it follows from no such fact. */
  readonly evidence?: readonly RemovalEvidence[];
  /** Endpoints, ready or not, whose addresses the Service does not have before the plan. Absent: none. */
  readonly added?: { readonly count: number; readonly evidence: readonly AdditionEvidence[] };
}

/** A published fact because of which endpoints are removed. */
export type RemovalEvidence =
  /** The plan's Service does not exist. */
  | { readonly kind: 'service' }
  /** The Pod is deleted or not selected by the Service. */
  | { readonly kind: 'pod'; readonly name: string; readonly uid: string }
  /** The Pod exists, but is not ready or is terminating. */
  | { readonly kind: 'readiness'; readonly name: string; readonly uid: string }
  /** The Pod's Node does not exist. */
  | { readonly kind: 'node'; readonly name: string }
  /** The Endpoints of the plan's Service do not exist. */
  | { readonly kind: 'endpoints' };

/** A published fact because of which an address is added. */
export type AdditionEvidence =
  /** The Pod has the address and is selected by the Service. */
  | { readonly kind: 'pod'; readonly name: string; readonly uid: string; readonly address: string }
  /** The Endpoints of the plan's Service have the address. */
  | { readonly kind: 'endpoints'; readonly address: string };
