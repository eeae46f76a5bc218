import { type Controller, controllers, type DecisionPolicy, soundDecisions } from '@sluice/controllers';
import type { Causes, Fact, OutcomeStatus, PlannedMutations } from '@sluice/messages';
import type { BackoffOptions } from './backoff.ts';
import type { ControllerState } from './controller-state.ts';
import { requestRepair } from './repair.ts';
import { retryAt } from './retry-time.ts';
import type { ServiceState } from './service-state.ts';
import { writeCooldownMs } from './write-cooldown.ts';

/** Where a controller stands with a Service, and when. */
export interface Moment {
  readonly controller: Controller;
  readonly state: ControllerState;
  /** In milliseconds since the Unix epoch. */
  readonly now: number;
}

/**
 * When Sluice decides, as a port. Clusters are served by {@link neverStale}; a run that is compared with a recording of
 * upstream hands in what upstream does (docs/reference/deviations.md).
 */
export interface ReconcilerPolicy {
  readonly decisions: DecisionPolicy;
  /**
   * The controllers that may decide again because of a fact, which is not folded yet. `retold`: it is part of a snapshot
   * that is no start, so it need not be news.
   */
  affected(view: ServiceState, fact: Fact, retold: boolean): ReadonlySet<Controller>;
  /** The controllers that decide again at the end of a snapshot, each with its delay in milliseconds. */
  affectedBySnapshot(
    view: ServiceState,
    start: boolean,
    batchPeriodMs: Readonly<Record<Controller, number>>,
  ): Iterable<readonly [Controller, number]>;
  /** Asks for a decision because somebody else wrote or deleted what the controller writes. */
  requestRepair(moment: Moment, batchPeriodMs: number, causes: Causes): ControllerState;
  /** Whether what is known is behind the controller's own writes (C20), so that nothing may be decided yet. */
  isStale(view: ServiceState, controller: Controller): boolean;
  /** When to decide again after a decision, though nothing more comes in; null: not at all. */
  dueAfterDecision(moment: Moment): number | null;
  /** How long a controller leaves a Service alone after such a plan, which took so long to carry out, in milliseconds. */
  writeCooldownMs(plan: PlannedMutations, tookMs: number): number;
  /** Whether a plan that was carried out is tried again because something kept it from being complete (E15). */
  readonly retriesIncomplete: boolean;
  /** Whether what was refused for good waits for a change, a resync or the slow retry at once, and not after many tries. */
  readonly parksRejected: boolean;
  /** When to decide again after a plan that came to nothing, in milliseconds since the Unix epoch. */
  retryAt(moment: Moment, status: OutcomeStatus, backoff: BackoffOptions, jitter: number): number;
}

const all: ReadonlySet<Controller> = new Set(controllers);
const allAtOnce = controllers.map((controller) => [controller, 0] as const);

/** Everything is noticed, nothing is waited for that is sure to come, and at rest nothing is old. */
export const neverStale: ReconcilerPolicy = {
  decisions: soundDecisions,
  affected: () => all,
  affectedBySnapshot: () => allAtOnce,
  requestRepair: ({ controller, state, now }, batchPeriodMs, causes) =>
    // H5: the batch period is for what comes from slices.
    requestRepair(state, now + (controller === 'endpoints' ? 0 : batchPeriodMs), causes, now),
  isStale: () => false,
  dueAfterDecision: () => null,
  writeCooldownMs,
  retriesIncomplete: false,
  parksRejected: true,
  retryAt,
};
