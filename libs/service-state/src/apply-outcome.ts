import {
  descriptorOf,
  endpointSliceTracker,
  endpointsWriter,
  readersOf,
  type TrackedSlices,
} from '@sluice/controllers';
import { comparePlans, type MutationResult, mergeCauses, type Outcome, type OutcomeStatus } from '@sluice/messages';
import { compareResourceVersions } from '@sluice/model';
import { nextBatch } from './adaptive-batch.ts';
import { applyResult, isChangedAtAdmission, knows } from './apply-result.ts';
import {
  type ControllerState,
  type InFlight,
  repairAfterOutcome,
  repairsAdmission,
  requestDecision,
  type Timers,
  type UnconfirmedCreates,
} from './controller-state.ts';
import { noticeForeignWrites, uncertainAfter } from './foreign-write.ts';
import { jitterOf, park } from './retries.ts';
import type { ServiceState } from './service-state.ts';
import type { Settings } from './settings.ts';

/** Whether this is the Outcome of the plan in flight. Any other one is ignored. */
export function isAwaited(state: ServiceState, { controller, plan }: Pick<Outcome, 'controller' | 'plan'>): boolean {
  const { inFlight } = state.controller(controller);
  return inFlight !== null && comparePlans(inFlight.message.plan, plan) === 0;
}

/**
 * The status of an Outcome that has been applied. It is worse than the writer's if an object was read back that the watch
 * has reported as deleted: as a success, it would be created again without end.
 */
export function judgedStatus(state: ServiceState, { status, results }: Outcome): OutcomeStatus {
  if (status !== 'applied') return status;
  return results.some((result) => isReadBack(result) && !knows(state, result)) ? 'conflict' : 'applied';
}

/** Applies what the cluster now stores, and what the controller does next. */
export function applyOutcome(state: ServiceState, outcome: Outcome, now: number, settings: Settings): void {
  const { controller, results } = outcome;
  const before = state.controller(controller);
  const { inFlight } = before;
  if (inFlight === null || !isAwaited(state, outcome)) return;
  const deletedBefore = new Set(state.tombstones.map(({ uid }) => uid));
  const endpointsBefore = state.endpoints;
  for (const result of results) applyResult(state, inFlight, result, now, settings.policy);
  const judged = { ...outcome, status: judgedStatus(state, outcome) };
  const idle = nextState(before, inFlight, judged, now, settings, state.slices.size);
  const undone = results.some((result) => isUndone(state, inFlight, result));
  const after = undone ? requestRepair(idle, outcome, now, settings) : idle;
  const written = track(before.trackers.tracked, inFlight, results, deletedBefore);
  const { provesByGeneration } = settings.policy;
  const tracked = provesByGeneration ? uncertainAfter(state, written, inFlight, judged) : written;
  const changed = results.some((result) => isChangedAtAdmission(state, inFlight, result));
  const repaired = changed && repairsAdmission(after, now) ? requestRepair(after, outcome, now, settings) : after;
  state.setController(controller, { ...repaired, trackers: { ...repaired.trackers, tracked } });
  if (controller !== endpointsWriter) noticeForeignWrites(state, controller, results, now, settings);
  if (state.endpoints !== endpointsBefore) requestReaders(state, outcome, now, settings);
}

const isReadBack = ({ verb, status, current }: MutationResult): boolean =>
  verb === 'create' && status === 'applied' && Boolean(current);

/**
 * Whether an object was created and, before this Outcome, deleted or relabelled. That watch event was ignored, since the
 * object was not known yet.
 */
function isUndone(state: ServiceState, inFlight: InFlight, result: MutationResult): boolean {
  const mutation = inFlight.message.groups[result.group]?.mutations[result.index];
  return result.status === 'applied' && mutation?.verb === 'create' && !result.current && !knows(state, result);
}

function requestRepair(
  state: ControllerState,
  { controller, causes }: Outcome,
  now: number,
  { policy, batchPeriodMs }: Settings,
): ControllerState {
  return policy.requestRepair({ controller, state, now }, batchPeriodMs[controller] ?? 0, causes);
}

/** The watch echo will not be news. Only Endpoints of a Service that just lost its selector are both written and read. */
function requestReaders(state: ServiceState, { causes }: Outcome, now: number, settings: Settings): void {
  if (state.service?.service?.selector !== null) return;
  for (const controller of readersOf('endpoints')) {
    if (!settings.controllers.has(controller)) continue;
    state.setController(controller, requestDecision(state.controller(controller), now, causes, now));
  }
}

/** Tracks written slices by generation, and deleted ones until the watch reports the deletion (C19). */
function track(
  tracked: TrackedSlices,
  inFlight: InFlight,
  results: readonly MutationResult[],
  deleted: ReadonlySet<string>,
): TrackedSlices {
  let next = tracked;
  for (const { status, resource, group, index, stored } of results) {
    const mutation = inFlight.message.groups[group]?.mutations[index];
    if (status !== 'applied' || resource !== 'endpointslices' || mutation === undefined) continue;
    if (mutation.verb !== 'delete') {
      if (stored !== undefined && !deleted.has(stored.uid))
        next = endpointSliceTracker.update(next, { metadata: stored });
    } else if (mutation.uid !== undefined && !deleted.has(mutation.uid)) {
      next = endpointSliceTracker.expectDeletion(next, { metadata: { uid: mutation.uid } });
    }
  }
  return next;
}

function batchAfter(slices: number, { batch }: Timers, { message }: InFlight, now: number, { batching }: Settings) {
  return batching === null || !descriptorOf(message.controller).compacts
    ? undefined
    : nextBatch(batch, message, now, slices, batching);
}

function nextState(
  before: ControllerState,
  inFlight: InFlight,
  outcome: Outcome,
  now: number,
  settings: Settings,
  slices: number,
): ControllerState {
  const idle = { ...before, inFlight: null, unconfirmedCreates: unconfirmedAfter(before, inFlight, outcome) };
  switch (outcome.status) {
    case 'applied':
    // Nothing more happens in a terminating namespace. Should it stay, a resync tries again.
    case 'namespaceTerminating': {
      const cooldownMs = settings.policy.writeCooldownMs(inFlight.message, {
        tookMs: now - inFlight.message.decidedAt,
        requestedMs: outcome.cooldownMs ?? 0,
      });
      const next = isModifiedByOthers(inFlight, outcome.results) ? repairAfterOutcome(idle, now) : idle;
      const { timers, retries, trackers } = next;
      const after = {
        ...next,
        timers: {
          ...timers,
          ...(cooldownMs > 0 && { cooldownUntil: now + cooldownMs }),
          batch: batchAfter(slices, timers, inFlight, now, settings),
          ...(before.requests.compaction && { dueAt: before.timers.dueAt ?? now }),
        },
        trackers: { ...trackers, triggers: inFlight.triggersAfter, hints: inFlight.hintsAfter },
      };
      if (inFlight.message.incomplete.length > 0 && settings.policy.retriesIncomplete)
        return afterFailure(after, outcome, now, settings);
      return { ...after, retries: { ...retries, failures: 0, heldBack: undefined, parkedSince: null } };
    }
    case 'conflict':
    case 'unavailable':
    case 'rejected':
      return afterFailure(idle, outcome, now, settings);
  }
}

/**
 * The plan whose creates may still arrive at the API server after this Outcome: a former owner of the partition may have
 * sent them, or the request timed out on its way. Only an object that exists confirms a create: one that is absent after an
 * error may still arrive.
 */
function unconfirmedAfter(
  { unconfirmedCreates }: ControllerState,
  { message }: InFlight,
  { status, results }: Outcome,
): UnconfirmedCreates | undefined {
  const creates = message.groups.flatMap(({ mutations }, group) =>
    mutations.flatMap(({ verb, resource }, index) =>
      verb === 'create' && resource === 'endpointslices'
        ? [results.find((result) => result.group === group && result.index === index)]
        : [],
    ),
  );
  // A plan that creates nothing leaves the names of earlier creates free, so those may still arrive.
  if (creates.length === 0) return unconfirmedCreates;
  if (status === 'applied') return undefined;
  const isConfirmed = (result: MutationResult | undefined) =>
    result !== undefined && (result.status === 'applied' || Boolean(result.current));
  if (creates.every(isConfirmed)) return undefined;
  // Also those that were created: once they are deleted, a late create must not meet the next one under another name.
  const found = creates.flatMap((result) => (result !== undefined && isConfirmed(result) ? [result.name] : []));
  const names = unconfirmedCreates ?? message.plan;
  const taken = new Set([...(unconfirmedCreates?.taken ?? []), ...found]);
  return taken.size === 0 ? names : { ...names, taken: [...taken] };
}

/**
 * Retries up to the limit, then parks the key unless another decision is requested anyway (B4). A rejected write would be
 * rejected again, so its key is parked at once.
 */
function afterFailure(idle: ControllerState, outcome: Outcome, now: number, settings: Settings): ControllerState {
  const { timers, retries } = idle;
  const failures = retries.failures + outcome.retries + 1;
  const heldBack = outcome.heldBack ?? false;
  const isFinal = outcome.status === 'rejected' && settings.policy.parksRejected;
  // For the causes of the failed plan, and for those that arrived since.
  const causes = mergeCauses(outcome.causes, idle.causes);
  if (failures < settings.maxAttempts && !isFinal) {
    const moment = { controller: outcome.controller, state: idle, now };
    const backedOffUntil = settings.policy.retryAt(moment, outcome.status, settings.backoff, jitterOf(outcome));
    const { retryAfterMs } = outcome;
    const delayedUntil = Math.max(backedOffUntil, now + (retryAfterMs ?? 0));
    const dueAt = Math.min(timers.dueAt ?? Number.POSITIVE_INFINITY, delayedUntil);
    const retry = {
      timers: { ...timers, dueAt, delayedUntil },
      retries: { ...retries, failures, retryAfterMs, heldBack },
    };
    return { ...idle, ...retry, causes };
  }
  // Whatever activates the key again gives it the full number of attempts (B4).
  const rested = { ...idle, retries: { ...retries, failures: 0, heldBack }, causes };
  if (timers.dueAt !== null) return rested;
  const { parkedRetryMs } = settings;
  // Reachable: Service parked
  const dueAt = parkedRetryMs === null ? null : now + parkedRetryMs * (1 + jitterOf(outcome));
  return { ...park(rested, outcome.message, now, dueAt), causes: outcome.causes };
}

/**
 * Whether another client wrote an object after the plan did and the watch delivered that before the Outcome; possibly so if
 * the object had to be read back.
 */
function isModifiedByOthers(inFlight: InFlight, results: readonly MutationResult[]): boolean {
  return results.some(isReadBack) || namesModifiedByOthers(inFlight, results).length > 0;
}

/** Names of written objects whose watch echo is newer than the plan's own write. */
export function namesModifiedByOthers(
  { watchEchoes }: Pick<InFlight, 'watchEchoes'>,
  results: readonly MutationResult[],
): readonly string[] {
  const names: string[] = [];
  for (const [name, seen] of Object.entries(watchEchoes)) {
    const stored = results.find((result) => result.name === name)?.stored;
    if (stored === undefined || compareResourceVersions(seen, stored.resourceVersion) > 0) names.push(name);
  }
  return names;
}
