import type {
  Change,
  CompactionRequest,
  Outcome,
  PlannedMutations,
  RemovalRelease,
  ServiceKey,
} from '@sluice/messages';
import { applyChange } from './apply-change.ts';
import { applyCompactionRequest } from './apply-compaction-request.ts';
import { applyOutcome } from './apply-outcome.ts';
import { applyPlan } from './apply-plan.ts';
import { applyRelease } from './apply-release.ts';
import { ServiceState } from './service-state.ts';
import type { Settings } from './settings.ts';

/** A message about one Service. */
export type ServiceMessage = Change | CompactionRequest | Outcome | PlannedMutations | RemovalRelease;

/** The state of a Service about which nothing is known. */
export function initialState(key: ServiceKey): ServiceState {
  return new ServiceState(key);
}

/**
 * Applies a message that arrived at `now` and returns the state, which is the given one, updated in place. The result
 * depends on the arguments alone: the same messages at the same times give the same state. A Change or Outcome that was
 * applied before, or is older than the state, changes nothing.
 *
 * A plan is usually put in flight by `decide`. One that is read from the log, where `decide` did not run, is put in flight
 * here; trackers then stay as they are. Leave out redeliveries of a plan whose Outcome has been applied.
 */
export function evolve(state: ServiceState, message: ServiceMessage, now: number, settings: Settings): ServiceState {
  switch (message.kind) {
    case 'change':
      applyChange(state, message, now, settings);
      break;
    case 'outcome':
      applyOutcome(state, message, now, settings);
      break;
    case 'mutations':
      applyPlan(state, message, now);
      break;
    case 'compaction':
      applyCompactionRequest(state, message, now, settings);
      break;
    case 'release':
      applyRelease(state, message, now);
      break;
  }
  return state;
}
