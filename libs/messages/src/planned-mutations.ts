import type { Controller, EventToRecord, MutationGroup } from '@sluice/controllers';
import type { Causes } from './cause.ts';
import type { ReadyEndpointsDelta } from './ready-endpoints-delta.ts';
import type { ServiceKey } from './service-key.ts';

/**
 * Names a plan. A later plan of the same partition, whatever its Service, has a larger number; those of a later owner have a
 * larger epoch.
 */
export interface PlanId {
  readonly epoch: number;
  readonly number: number;
}

/** What a reconciler wants done for one Service by one controller. Message of the topic `mutations`. */
export interface PlannedMutations {
  readonly kind: 'mutations';
  readonly key: ServiceKey;
  readonly controller: Controller;
  readonly plan: PlanId;
  readonly groups: readonly MutationGroup[];
  readonly events: readonly EventToRecord[];
  /** What keeps the plan from being complete (E15); reported with its failure event. */
  readonly incomplete: readonly string[];
  /** uid of the Service, on which failures are reported; empty if it does not exist. */
  readonly serviceUid: string;
  /** Absent: as many are ready as before. */
  readonly ready?: ReadyEndpointsDelta;
  /** So many plans in a row only put right what somebody else did to what the controller writes; absent: few or none. */
  readonly consecutiveRepairs?: number;
  readonly causes: Causes;
  /** When it was decided, in milliseconds since the Unix epoch. */
  readonly decidedAt: number;
}

export function comparePlans(a: PlanId, b: PlanId): number {
  return a.epoch - b.epoch || a.number - b.number;
}
