import { controllers, type DecisionPolicy, defaultPolicy, endpointsWriter } from '@sluice/controllers';
import type { Causes, Fact, OutcomeStatus, PlannedMutations } from '@sluice/messages';
import { type Controller, compareResourceVersions } from '@sluice/model';
import type { ControllerState } from './controller-state.ts';
import { requestRepair } from './repair.ts';
import { type BackoffOptions, retryAt } from './retries.ts';
import type { ServiceState } from './service-state.ts';
import { isDeleted } from './tombstones.ts';
import { type AppliedPlan, writeCooldownMs } from './write-cooldown.ts';

/** A controller's state for one Service at one time. */
export interface Moment {
  readonly controller: Controller;
  readonly state: ControllerState;
  /** In milliseconds since the Unix epoch. */
  readonly now: number;
}

/**
 * When Sluice decides, and what it takes for outdated, as a port. Clusters are served with {@link neverStale}; a run that is
 * compared with a recording of upstream uses upstream's rules (docs/reference/parity.md). All methods are pure.
 */
export interface ReconcilerPolicy {
  readonly decisions: DecisionPolicy;
  /**
   * The controllers that a fact may cause to decide, null: all; the fact has not been applied yet. `resynced`: it is part of a
   * snapshot other than a watcher's first, so it need not be new.
   */
  affected(state: ServiceState, fact: Fact, resynced: boolean): ReadonlySet<Controller> | null;
  /** The controllers that decide at the end of a snapshot, each with its delay in milliseconds. */
  affectedBySnapshot(
    state: ServiceState,
    initial: boolean,
    batchPeriodMs: Readonly<Record<Controller, number>>,
  ): Iterable<readonly [Controller, number]>;
  /** Requests a decision because another client modified or deleted what the controller writes. */
  requestRepair(moment: Moment, batchPeriodMs: number, causes: Causes): ControllerState;
  /** Whether the state lags behind the controller's own writes (C20), so that it must not decide yet. */
  isStale(state: ServiceState, controller: Controller): boolean;
  /** When to decide again after a decision although no message arrives; null: never. */
  dueAfterDecision(moment: Moment): number | null;
  /**
   * Whether generations of slices prove foreign writes and restores (C19). Upstream uses them only to wait for its cache, and
   * forgets them when it restarts.
   */
  readonly provesByGeneration: boolean;
  /** How long a controller leaves a Service alone after an applied plan, in milliseconds. */
  writeCooldownMs(plan: PlannedMutations, applied: AppliedPlan): number;
  /** Compares the version of an object that has arrived with the known one. A negative result: it is older. */
  order(resourceVersion: string, known: string): number;
  /** Whether an object that has arrived is known to be deleted. */
  readonly isDeleted: typeof isDeleted;
  /** Whether an applied plan that is incomplete is retried (E15). */
  readonly retriesIncomplete: boolean;
  /** Whether a rejected write parks its key at once instead of after many attempts. */
  readonly parksRejected: boolean;
  /** When to decide again after a failed plan, in milliseconds since the Unix epoch. `jitter`: from 0 to 1. */
  retryAt(moment: Moment, status: OutcomeStatus, backoff: BackoffOptions, jitter: number): number;
}

/** Sluice's own rules: every fact counts, and once converged, nothing written is stale. */
export const neverStale: ReconcilerPolicy = {
  decisions: defaultPolicy,
  affected: () => null,
  affectedBySnapshot: () => controllers.map((controller) => [controller, 0] as const),
  requestRepair: ({ controller, state, now }, batchPeriodMs, causes) =>
    // Slices have a batch period, Endpoints do not (H5).
    requestRepair(state, now + (controller === endpointsWriter ? 0 : batchPeriodMs), causes, now),
  isStale: () => false,
  dueAfterDecision: () => null,
  provesByGeneration: true,
  writeCooldownMs,
  order: compareResourceVersions,
  isDeleted,
  retriesIncomplete: false,
  parksRejected: true,
  retryAt,
};
