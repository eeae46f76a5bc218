import { compareResourceVersions, endpointSliceTracker, type TrackedSlices } from '@sluice/controllers';
import { comparePlans, type MutationResult, mergeCauses, type Outcome, type OutcomeStatus } from '@sluice/messages';
import { applyResult, knows } from './apply-result.ts';
import { jitterOf } from './backoff.ts';
import { type ControllerState, type InFlight, requestDecision } from './controller-state.ts';
import { repairAfterOutcome } from './repair.ts';
import type { ServiceState } from './service-state.ts';
import type { Settings } from './settings.ts';

/**
 * Folds what became of a plan into the view: what is stored in the cluster now, and what the controller does next.
 * Returns how it was judged; undefined if nobody waits for it (any more).
 */
export function applyOutcome(
  view: ServiceState,
  outcome: Outcome,
  now: number,
  settings: Settings,
): OutcomeStatus | undefined {
  const state = view.controller(outcome.controller);
  const { inFlight } = state;
  if (inFlight === null || comparePlans(inFlight.message.plan, outcome.plan) !== 0) return undefined;
  const gone = new Set(view.deletedUids);
  const endpointsBefore = view.endpoints;
  for (const result of outcome.results) applyResult(view, inFlight, result);
  // What was read back but is taken for gone would be created again without end if that counted as success.
  const doubtful = outcome.results.some(
    (result) => result.status === 'applied' && result.current && !knows(view, result),
  );
  const judged: Outcome = doubtful && outcome.status === 'applied' ? { ...outcome, status: 'conflict' } : outcome;
  const free = next(state, inFlight, judged, now, settings);
  const undone = outcome.results.some((result) => isUndone(view, inFlight, result));
  const after = undone ? repaired(free, outcome, now, settings) : free;
  view.setController(outcome.controller, { ...after, tracked: track(state.tracked, inFlight, outcome.results, gone) });
  if (view.endpoints !== endpointsBefore) mirrorAgain(view, outcome, now, settings);
  return judged.status;
}

/**
 * It was created, and the watch showed before its Outcome that it is gone again, or not this Service's any more. Of what
 * was not known under its name yet, that was no news then.
 */
function isUndone(view: ServiceState, inFlight: InFlight, result: MutationResult): boolean {
  const mutation = inFlight.message.groups[result.group]?.mutations[result.index];
  return result.status === 'applied' && mutation?.verb === 'create' && !result.current && !knows(view, result);
}

function repaired(
  state: ControllerState,
  { controller, causes }: Outcome,
  now: number,
  { policy, batchPeriodMs }: Settings,
): ControllerState {
  return policy.requestRepair({ controller, state, now }, batchPeriodMs[controller], causes);
}

/** The echo will be no news any more. Only Endpoints of a Service that just lost its selector are written and mirrored. */
function mirrorAgain(view: ServiceState, { causes }: Outcome, now: number, settings: Settings): void {
  if (view.service?.service?.selector !== null || !settings.controllers.has('endpointslicemirroring')) return;
  view.setController(
    'endpointslicemirroring',
    requestDecision(view.controller('endpointslicemirroring'), now, causes, now),
  );
}

/** C19: what was written is tracked with its generation, what was deleted until the watch shows that it is gone. */
function track(
  tracked: TrackedSlices,
  inFlight: InFlight,
  results: readonly MutationResult[],
  gone: ReadonlySet<string>,
): TrackedSlices {
  let next = tracked;
  for (const { status, resource, group, index, stored } of results) {
    const mutation = inFlight.message.groups[group]?.mutations[index];
    if (status !== 'applied' || resource !== 'endpointslices' || mutation === undefined) continue;
    if (mutation.verb !== 'delete') {
      if (stored !== undefined) next = endpointSliceTracker.update(next, { metadata: stored });
    } else if (mutation.uid !== undefined && !gone.has(mutation.uid)) {
      next = endpointSliceTracker.expectDeletion(next, { metadata: { uid: mutation.uid } });
    }
  }
  return next;
}

function next(
  state: ControllerState,
  inFlight: InFlight,
  outcome: Outcome,
  now: number,
  settings: Settings,
): ControllerState {
  const free = { ...state, inFlight: null };
  switch (outcome.status) {
    case 'applied':
    case 'namespaceTerminating': {
      const rest = settings.policy.writeCooldownMs(inFlight.message, now - inFlight.message.decidedAt);
      // Of a namespace that goes away nothing more is expected; should it stay, a resync tries again.
      const after = {
        ...free,
        ...(foreignWrite(inFlight, outcome.results) && repairAfterOutcome(state, now)),
        triggers: inFlight.triggersAfter,
        hints: inFlight.hintsAfter,
        ...(rest > 0 && { cooldownUntil: now + rest }),
      };
      if (inFlight.message.incomplete.length > 0 && settings.policy.retriesIncomplete)
        return failed(after, outcome, now, settings);
      return { ...after, failures: 0, parkedSince: null };
    }
    case 'conflict':
    case 'unavailable':
    case 'rejected':
      return failed(free, outcome, now, settings);
  }
}

/**
 * B4: tried again later, up to the limit; then parked, unless something else asks for a decision anyway. What was refused
 * for good would only be refused again, so it is parked at once.
 */
function failed(free: ControllerState, outcome: Outcome, now: number, settings: Settings): ControllerState {
  const failures = free.failures + outcome.retries + 1;
  const due = free.dueAt ?? Number.POSITIVE_INFINITY;
  const inVain = outcome.status === 'rejected' && settings.policy.parksRejected;
  if (failures < settings.maxAttempts && !inVain) {
    const moment = { controller: outcome.controller, state: free, now };
    const delayedUntil = settings.policy.retryAt(moment, outcome.status, settings.backoff, jitterOf(outcome));
    return { ...free, dueAt: Math.min(due, delayedUntil), failures, delayedUntil, causes: mergeBack(free, outcome) };
  }
  if (free.dueAt === null) return park(free, outcome, now, settings);
  return { ...free, failures: 0, causes: mergeBack(free, outcome) };
}

/** Its history is forgotten (B4): whatever arms the key again gives it the full number of attempts. */
function park(free: ControllerState, outcome: Outcome, now: number, { parkedRetryMs }: Settings): ControllerState {
  const dueAt = parkedRetryMs === null ? null : now + parkedRetryMs * (1 + jitterOf(outcome));
  const parkedSince = free.parkedSince ?? now;
  return { ...free, dueAt, failures: 0, causes: outcome.causes, parked: outcome.message, parkedSince };
}

/** The retry is still on behalf of what caused the plan, and of what has come in since. */
function mergeBack(state: ControllerState, outcome: Outcome): ControllerState['causes'] {
  return mergeCauses(outcome.causes, state.causes);
}

/**
 * Somebody else wrote the object after the plan did, and the watch showed it before the Outcome came; or perhaps so, since
 * the object had to be read back.
 */
function foreignWrite(inFlight: InFlight, results: readonly MutationResult[]): boolean {
  if (results.some(({ status, current }) => status === 'applied' && current)) return true;
  return Object.entries(inFlight.watchEchoes).some(([name, seen]) => {
    const stored = results.find((result) => result.name === name)?.stored;
    return stored === undefined || compareResourceVersions(seen, stored.resourceVersion) > 0;
  });
}
