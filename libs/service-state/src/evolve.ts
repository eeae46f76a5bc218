import {
  type Change,
  type CompactionRequest,
  comparePlans,
  type Outcome,
  type PlannedMutations,
  type RemovalRelease,
  type ServiceKey,
} from '@sluice/messages';
import { applyChange } from './apply-change.ts';
import { applyDecision } from './apply-decision.ts';
import { applyOutcome } from './apply-outcome.ts';
import { applyCompactionRequest, applyRelease } from './apply-request.ts';
import { clampDeadlines } from './clamp-deadlines.ts';
import type { Decision } from './decide.ts';
import { abortSnapshot, invalidate } from './invalidate.ts';
import { recordedDecision } from './recorded-decision.ts';
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
