import { controllers, decisionOrder, descriptorOf, endpointsWriter } from '@sluice/controllers';
import {
  type Change,
  type CompactionRequest,
  comparePlans,
  noCauses,
  type Outcome,
  type PlannedMutations,
  type RemovalRelease,
  type ServiceKey,
} from '@sluice/messages';
import type { Controller } from '@sluice/model';
import { applyChange } from './apply-change.ts';
import { applyOutcome } from './apply-outcome.ts';
import { clampDeadlines } from './clamp-deadlines.ts';
import { withoutSlices } from './compact.ts';
import { afterDecision, type ControllerState, redeliverAt, redelivered, requestDecision } from './controller-state.ts';
import type { Decision, Planned, Tracked } from './decide.ts';
import { expectUncertain } from './foreign-write.ts';
import { reconcile, trackUnchanged } from './reconcile.ts';
import { park } from './retries.ts';
import { ServiceState } from './service-state.ts';
import type { Settings } from './settings.ts';

/** A message about one Service. */
export type ServiceMessage = Change | CompactionRequest | Outcome | PlannedMutations | RemovalRelease;

/** Everything that can happen to the state of a Service. */
export type ServiceEvent =
  | ServiceMessage
  | Decision
  /** Messages were lost, so the state may be outdated or incomplete. */
  | { readonly kind: 'messagesLost' }
  /** A part of the snapshot in progress is unreadable. */
  | { readonly kind: 'snapshotAborted' }
  /** Deadlines may be those of another clock: of a former owner, or of this one before it was set back. */
  | { readonly kind: 'clockChanged' };

/** The state of a Service about which nothing is known. */
export function initialState(key: ServiceKey): ServiceState {
  return new ServiceState(key);
}

/**
 * Applies what happened at `now` and returns the state, which is the given one, updated in place. This is the only place
 * where a state changes, and the result depends on the arguments alone: the same events at the same times give the same
 * state. A Change, plan or Outcome that was applied before, or is older than the state, changes nothing.
 *
 * A plan that is read from the log leaves what its decision left. Leave out redeliveries of a plan whose Outcome has been
 * applied.
 */
export function evolve(state: ServiceState, event: ServiceEvent, now: number, settings: Settings): ServiceState {
  switch (event.kind) {
    case 'change':
      applyChange(state, event, now, settings);
      break;
    case 'outcome':
      applyOutcome(state, event, now, settings);
      break;
    case 'mutations':
      if (isNews(state, event)) applyDecision(state, recordedDecision(state, event, settings), now, settings);
      break;
    case 'compaction':
      applyCompactionRequest(state, event, now, settings);
      break;
    case 'release':
      applyRelease(state, event, now);
      break;
    case 'planned':
    case 'unchanged':
    case 'redelivered':
    case 'parked':
      applyDecision(state, event, now, settings);
      break;
    case 'messagesLost':
      invalidate(state, now);
      break;
    case 'snapshotAborted':
      abortSnapshot(state);
      break;
    case 'clockChanged':
      clampDeadlines(state, now, settings);
      break;
  }
  return state;
}

function isNews(state: ServiceState, { controller, plan }: PlannedMutations): boolean {
  const { inFlight } = state.controller(controller);
  return inFlight === null || comparePlans(plan, inFlight.message.plan) > 0;
}

/** Applies what a controller decided at `now`. */
function applyDecision(state: ServiceState, decision: Decision, now: number, settings: Settings): void {
  const { controller } = decision;
  switch (decision.kind) {
    case 'planned': {
      const { plan, tracked, trace } = decision;
      const inFlight = {
        message: plan,
        triggersAfter: tracked.triggers,
        hintsAfter: tracked.hints,
        watchEchoes: {},
        redeliverAt: redeliverAt(now, 0),
        redeliveries: 0,
        ...(trace !== undefined && { trace }),
      };
      return state.setController(controller, { ...decided(state, controller, plan, tracked, now, settings), inFlight });
    }
    case 'unchanged': {
      const { tracked } = decision;
      if (tracked === null) return state.setController(controller, postponed(state, controller, now, settings));
      const { triggers, hints } = tracked;
      const idle = decided(state, controller, null, tracked, now, settings);
      const retries = { ...idle.retries, failures: 0, heldBack: undefined, parkedSince: null };
      return state.setController(controller, { ...idle, retries, trackers: { ...idle.trackers, triggers, hints } });
    }
    case 'redelivered':
      return state.setController(controller, redelivered(state.controller(controller), now));
    case 'parked': {
      const { parkedRetryMs } = settings;
      const idle = { ...state.controller(controller), inFlight: null };
      const dueAt = parkedRetryMs === null ? null : now + parkedRetryMs;
      return state.setController(controller, park(idle, decision.reason, now, dueAt));
    }
  }
}

/** The requests for a decision are met. */
function postponed(state: ServiceState, controller: Controller, now: number, { policy }: Settings): ControllerState {
  const before = state.controller(controller);
  const dueAt = policy.dueAfterDecision({ controller, state: before, now });
  return { ...before, timers: { ...before.timers, dueAt, topologyDueAt: undefined }, requests: {}, causes: noCauses };
}

/** `plan`: null if nothing has to be written. */
function decided(
  state: ServiceState,
  controller: Controller,
  plan: PlannedMutations | null,
  { counts }: Tracked,
  now: number,
  settings: Settings,
): ControllerState {
  const before = state.controller(controller);
  const groups = plan?.groups ?? [];
  const isRequestOpen = groups.length > 0 && plan?.compaction === undefined;
  const { compaction } = before.requests;
  const tracked = trackUnchanged(state, controller, groups, settings);
  const after: ControllerState = {
    ...postponed(state, controller, now, settings),
    retries: { ...before.retries, parked: null },
    repairs: afterDecision(before.repairs, groups.length > 0, now),
    trackers: { ...before.trackers, tracked, counted: counts?.service ?? null },
    requests: compaction && isRequestOpen ? { compaction } : {},
  };
  if (controller === endpointsWriter && state.endpoints === null) state.setOrphaned(false);
  return after;
}

/** A request that could not be met by then is dropped: its sender has counted on other slices. */
export const compactionExpiresAfterMs = 60_000;

/** Requests a decision that may compact the Service's slices. A parked key stays parked. */
function applyCompactionRequest(
  state: ServiceState,
  { reason, requestedAt, maxWrites, onlyWorthwhile }: CompactionRequest,
  now: number,
  { controllers }: Settings,
): void {
  const causes = { first: [{ description: reason, observedAt: requestedAt }], more: 0 };
  const compaction = { maxWrites, onlyWorthwhile, expiresAt: now + compactionExpiresAfterMs };
  for (const controller of controllers) {
    const before = state.controller(controller);
    if (!descriptorOf(controller).compacts || before.retries.parked !== null) continue;
    const requests = { ...before.requests, compaction };
    state.setController(controller, { ...requestDecision(before, now, causes, now), requests });
  }
}

/** Decides parked keys at once and lets their next plan pass the guards against mass removals and additions. */
function applyRelease(state: ServiceState, { releasedAt }: RemovalRelease, now: number): void {
  const causes = {
    first: [{ description: 'held-back change released by an operator', observedAt: releasedAt }],
    more: 0,
  };
  for (const controller of controllers) {
    const before = state.controller(controller);
    if (before.retries.parkedSince === null) continue;
    const requests = { ...before.requests, released: true as const };
    state.setController(controller, { ...requestDecision(before, now, causes, now), requests });
  }
}

/**
 * Ends the snapshot in progress without effect because a part of it is unreadable: what the missing part would have confirmed
 * must not count as deleted.
 */
function abortSnapshot(state: ServiceState): void {
  if (state.snapshot.open !== null) state.setSnapshot({ ...state.snapshot, open: null });
}

/**
 * Marks a state as possibly outdated or incomplete because messages were lost. Nothing is decided before the next snapshot
 * has ended. The Outcomes of plans in flight may be among the lost messages, so those plans are dropped and decided again.
 */
function invalidate(state: ServiceState, now: number): void {
  state.setSnapshot({ ...state.snapshot, complete: false, open: null, partial: undefined });
  state.clearTombstones();
  for (const controller of decisionOrder) {
    const before = state.controller(controller);
    const { inFlight, timers, trackers } = before;
    if (inFlight === null) continue;
    const tracked = expectUncertain(state, trackers.tracked, inFlight, []);
    const after = { timers: { ...timers, dueAt: now }, trackers: { ...trackers, tracked } };
    state.setController(controller, { ...before, ...after, inFlight: null });
  }
}

/** The decision that led to a plan of the log. What the plan does not say follows from the state on which it was decided. */
function recordedDecision(state: ServiceState, plan: PlannedMutations, settings: Settings): Planned {
  const { controller, compaction } = plan;
  // A history that begins later than the state lacks objects, which would count as removed.
  const { complete } = state.snapshot;
  const before = { ...state.controller(controller).trackers, counts: null };
  const { triggers, hints, counts } = complete ? reconcile(state, controller, settings) : before;
  const tracked = { triggers, hints, counts: compaction ? withoutSlices(counts, compaction.removed) : counts };
  return { kind: 'planned', controller, plan, tracked };
}
