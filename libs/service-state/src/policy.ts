import {
  controllers,
  countAddresses,
  type DecisionPolicy,
  defaultPolicy,
  endpointsWriter,
  isOverloaded,
  readersOf,
} from '@sluice/controllers';
import {
  type Causes,
  type Fact,
  formatServiceKey,
  hash32,
  type OutcomeStatus,
  type PlannedMutations,
  type Stamp,
} from '@sluice/messages';
import { type Controller, compareResourceVersions, type Mutation } from '@sluice/model';
import type { BackoffOptions } from '@sluice/platform';
import { type ControllerState, requestRepair } from './controller-state.ts';
import { retryAt } from './retries.ts';
import type { ServiceState } from './service-state.ts';
import { isDeleted } from './tombstones.ts';

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

const maxForSlownessMs = 75;

/** A plan that is applied within this time shows an API server with spare capacity. */
const promptMs = 20;

/** More than the cooldown for size of any Service: Endpoints hold a thousand addresses at most, in several groups of ports. */
export const maxCooldownMs = 2_000;

/** Fewer addresses are no load. */
const minAddresses = 100;

/** An API server needs a tenth of this CPU time to store an address. */
const msPerAddress = 0.25;

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

/** What an Outcome says about the time of its plan, in milliseconds. */
interface AppliedPlan {
  /** From decision to Outcome. */
  readonly tookMs: number;
  /** The cooldown that the writer asks for, because the API server is saturated. */
  readonly requestedMs: number;
}

/**
 * How long, in milliseconds, a controller leaves a Service alone after a plan.
 * Changes that arrive meanwhile become one plan; the first change after the cooldown is written at once (ADR 0023).
 *
 * For Endpoints it depends on size: each write carries all addresses, whereas a slice carries a hundred at most. For
 * everything it depends on how long the plan took: an API server at its limit only gets slower with a write per change.
 * The writer asks for a longer one if requests of the whole cluster are slow.
 */
export function writeCooldownMs(plan: Pick<PlannedMutations, 'groups'>, { tookMs, requestedMs }: AppliedPlan): number {
  const forSlowness = Math.min(maxForSlownessMs, Math.max(0, tookMs - promptMs));
  return Math.max(forSlowness, Math.min(requestedMs, maxCooldownMs), cooldownForSize(plan));
}

function cooldownForSize({ groups }: Pick<PlannedMutations, 'groups'>): number {
  const written = groups.reduce((sum, { mutations }) => mutations.reduce((n, m) => n + addressesIn(m), sum), 0);
  return written < minAddresses ? 0 : Math.round(written * msPerAddress);
}

function addressesIn(mutation: Mutation): number {
  if (mutation.verb === 'delete' || mutation.resource !== 'endpoints') return 0;
  return countAddresses(mutation.object.subsets ?? []);
}

/** Pace of the decisions for Services that are not overloaded, unless it would take longer than the maximum. */
const servicesPerSecond = 10;
export const maxTopologyDelayMs = 5 * 60_000;

/**
 * How long a Service waits before it adapts its hints to other zone ratios. An overloaded one does not wait (F14). The others
 * are spread over a period that follows from their number: upstream decides them with their next change, and most hints still
 * fit. The share of the period follows from the Service and the Change, so the delay is the same wherever the Change is applied,
 * and no Service is always first. The fact has not been applied yet.
 */
export function topologyDelayMs(state: ServiceState, fact: Extract<Fact, { kind: 'topology' }>, stamp: Stamp): number {
  for (const controller of readersOf('nodes')) {
    const { inFlight, trackers } = state.controller(controller);
    if (isOverloaded(inFlight === null ? trackers.hints : inFlight.hintsAfter, fact.topology)) return 0;
  }
  const periodMs = Math.min(maxTopologyDelayMs, ((fact.hintedServices ?? 0) * 1000) / servicesPerSecond);
  return Math.round(periodMs * fractionOf(`${formatServiceKey(state.key)} ${stamp.epoch}.${stamp.sequence}`));
}

/** From 0 to 1, evenly distributed. */
const fractionOf = (seed: string): number => hash32(seed) / 2 ** 32;
