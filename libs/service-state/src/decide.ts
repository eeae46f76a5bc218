import {
  type Controller,
  endpointSliceTracker,
  type Plan,
  reconcileEndpointSlices,
  reconcileEndpoints,
  reconcileMirroring,
  type ServiceHints,
  type SyncCounts,
  type TrackedSlices,
  type TriggerTimes,
} from '@sluice/controllers';
import { noCauses, type PlanId, type PlannedMutations } from '@sluice/messages';
import { type ControllerState, decidesAt } from './controller-state.ts';
import { withDerivedNames } from './derived-name.ts';
import { isMirrored, slicesOf } from './own-slices.ts';
import { ReadyEndpoints } from './ready-endpoints.ts';
import { readyAsWritten, readyEndpointsDelta } from './ready-endpoints-delta.ts';
import { redeliverAt } from './redelivery.ts';
import { afterDecision, freeRepairs } from './repair.ts';
import type { ServiceState } from './service-state.ts';
import type { Settings } from './settings.ts';

/** Slices first: they are what traffic follows. */
export const decisionOrder: readonly Controller[] = ['endpointslice', 'endpointslicemirroring', 'endpoints'];

interface Decision {
  readonly plan: Plan;
  readonly triggers: TriggerTimes | null;
  readonly hints: ServiceHints | null;
  readonly counts: SyncCounts | null;
}

export interface Decided {
  /** What is to be published; undefined if the cluster is as it should be. */
  readonly plan: PlannedMutations | undefined;
  /** What the metrics are to know of it; null: nothing. */
  readonly counts: SyncCounts | null;
}

/** True if the controller may and should decide now: something is due, nothing is in flight, all inputs are in. */
export function isDue(view: ServiceState, controller: Controller, now: number): boolean {
  const state = view.controller(controller);
  const at = decidesAt(state);
  return at !== null && at <= now && state.inFlight === null && view.snapshot.complete && view.snapshot.open === null;
}

/**
 * Decides for one controller and notes it in the view. `nextPlan` names the plan, if there is one; `ready` is told how many
 * endpoints are.
 */
export function decide(
  view: ServiceState,
  controller: Controller,
  nextPlan: () => PlanId,
  now: number,
  settings: Settings,
  ready = new ReadyEndpoints(),
): Decided {
  const { released, ...state } = view.controller(controller);
  const dueAt = settings.policy.dueAfterDecision({ controller, state, now });
  if (settings.policy.isStale(view, controller)) {
    view.setController(controller, { ...state, dueAt, causes: noCauses });
    return { plan: undefined, counts: null };
  }
  const { plan, triggers, hints, counts } = reconcile(view, controller, state, settings);
  const tracked = trackLeftAlone(view, controller, state.tracked, plan);
  const counted = counts?.service ?? null;
  const repaired = afterDecision(state, plan.groups.length > 0);
  const rested: ControllerState = { ...state, ...repaired, tracked, counted, dueAt, causes: noCauses, parked: null };
  if (controller === 'endpoints' && view.orphaned && view.endpoints === null) view.set('orphaned', undefined);
  if (plan.groups.length === 0 && plan.events.length === 0 && plan.incomplete.length === 0) {
    view.setController(controller, { ...rested, failures: 0, parkedSince: null, triggers, hints });
    if (!ready.knows(view.key, controller)) ready.set(view.key, controller, readyAsWritten(view, controller));
    return { plan: undefined, counts };
  }
  const id = nextPlan();
  const service = view.service?.service;
  const groups = withDerivedNames(
    plan.groups,
    service?.uid ?? view.endpoints?.endpoints.metadata.uid ?? '',
    controller,
    id,
  );
  const change = readyEndpointsDelta(view, controller, groups, ready);
  const planned: PlannedMutations = {
    kind: 'mutations',
    key: view.key,
    controller,
    plan: id,
    groups,
    events: plan.events,
    incomplete: plan.incomplete,
    serviceUid: service?.uid ?? '',
    ...(change && { ready: change }),
    ...(state.repairing && repaired.repairs >= freeRepairs && { consecutiveRepairs: repaired.repairs }),
    causes: state.causes,
    decidedAt: now,
  };
  const inFlight = {
    message: planned,
    triggersAfter: triggers,
    hintsAfter: hints,
    watchEchoes: {},
    redeliverAt: redeliverAt(now, 0),
    redeliveries: 0,
  };
  view.setController(controller, { ...rested, inFlight });
  return { plan: planned, counts };
}

function reconcile(view: ServiceState, controller: Controller, state: ControllerState, settings: Settings): Decision {
  const service = view.service?.service ?? null;
  switch (controller) {
    case 'endpoints': {
      const decision = reconcileEndpoints({
        service,
        pods: [...view.pods.values()],
        existing: view.endpoints?.endpoints ?? null,
        orphaned: view.orphaned,
        triggers: state.triggers,
        policy: settings.policy.decisions,
      });
      return { ...decision, hints: null, counts: null };
    }
    case 'endpointslice':
      return reconcileEndpointSlices({
        service,
        pods: [...view.pods.values()],
        slices: slicesOf(view, controller),
        triggers: state.triggers,
        topology: view.topology,
        hints: state.hints,
        maxEndpointsPerSlice: settings.maxEndpointsPerSlice,
        policy: settings.policy.decisions,
      });
    case 'endpointslicemirroring': {
      const { plan, counts } = reconcileMirroring({
        service,
        endpoints: view.endpoints?.endpoints ?? null,
        slices: slicesOf(view, controller),
        maxEndpointsPerSubset: settings.maxEndpointsPerSubset,
        policy: settings.policy.decisions,
      });
      return { plan, triggers: null, hints: null, counts };
    }
  }
}

/** H15: a mirrored slice that is right as it is is tracked from then on. H6: a clean-up forgets all that was tracked. */
function trackLeftAlone(view: ServiceState, controller: Controller, tracked: TrackedSlices, plan: Plan): TrackedSlices {
  if (controller !== 'endpointslicemirroring') return tracked;
  if (!isMirrored(view)) return endpointSliceTracker.noTrackedSlices;
  const written = new Set(
    plan.groups.flatMap(({ mutations }) =>
      mutations.map((m) => (m.verb === 'delete' ? m.name : m.object.metadata.name)),
    ),
  );
  let next = tracked;
  for (const slice of slicesOf(view, controller)) {
    if (!written.has(slice.metadata.name) && !endpointSliceTracker.has(next, slice)) {
      next = endpointSliceTracker.update(next, slice);
    }
  }
  return next;
}
