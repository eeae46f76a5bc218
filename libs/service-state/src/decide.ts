import type { Controller, MutationGroup, Plan, SyncCounts } from '@sluice/controllers';
import { noCauses, type PlanId, type PlannedMutations, type TraceContext } from '@sluice/messages';
import { compact } from './compact.ts';
import type { ControllerState } from './controller-state.ts';
import { decisionOrder } from './decision-order.ts';
import { withDerivedNames } from './derived-name.ts';
import { isDue } from './due.ts';
import { park } from './park.ts';
import { readyEndpointsDelta } from './ready-endpoints-delta.ts';
import { reconcile, trackUnchanged } from './reconcile.ts';
import { redeliver, redeliverAt } from './redelivery.ts';
import { afterDecision, freeRepairs } from './repair.ts';
import type { ServiceState } from './service-state.ts';
import type { Settings } from './settings.ts';

export interface DecisionInputs {
  readonly settings: Settings;
  /** Id of the next plan. Several plans of one `decide` get consecutive numbers. */
  readonly nextPlan: PlanId;
  /**
   * Ready endpoints that a controller has written for all other Services of the cluster, for the mass-removal guard.
   * Default: none.
   */
  readonly readyElsewhere?: (controller: Controller) => number;
  /** Trace context for the message of the next plan. */
  readonly trace?: TraceContext | undefined;
}

/** What a controller did because it was due. The state already reflects it. */
export type Decision =
  | {
      readonly kind: 'decided';
      readonly controller: Controller;
      /** The plan, now in flight; undefined if the cluster is as it should be. */
      readonly plan: PlannedMutations | undefined;
      /** For the metrics; null: nothing to count. */
      readonly counts: SyncCounts | null;
    }
  /** The Outcome is overdue: publish the plan in flight again, unchanged. */
  | { readonly kind: 'redelivered'; readonly controller: Controller; readonly plan: PlannedMutations }
  /** The decision failed with an error. The key is parked. */
  | { readonly kind: 'failed'; readonly controller: Controller; readonly plan: undefined; readonly reason: string };

/**
 * Lets every controller act that is due at `now`, and returns the state, which is the given one, updated in place, with
 * what the controllers did. The result depends on the arguments alone. It never throws.
 */
export function decide(
  state: ServiceState,
  now: number,
  inputs: DecisionInputs,
): { readonly state: ServiceState; readonly decisions: readonly Decision[] } {
  const decisions: Decision[] = [];
  let { number } = inputs.nextPlan;
  for (const controller of decisionOrder) {
    if (!isDue(state, controller, now)) continue;
    const nextPlan = { epoch: inputs.nextPlan.epoch, number };
    const decision = decideController(state, controller, now, { ...inputs, nextPlan });
    if (decision.kind === 'decided' && decision.plan !== undefined) number += 1;
    decisions.push(decision);
  }
  return { state, decisions };
}

/** The part of `decide` for one controller that is due, for callers that measure each decision. */
export function decideController(
  state: ServiceState,
  controller: Controller,
  now: number,
  inputs: DecisionInputs,
): Decision {
  const again = redeliver(state, controller, now);
  if (again !== undefined) return { kind: 'redelivered', controller, plan: again.message };
  try {
    return decideNow(state, controller, now, inputs);
  } catch (error) {
    // One Service whose decision fails must not stop the others.
    const reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
    const { parkedRetryMs } = inputs.settings;
    park(state, controller, reason, now, parkedRetryMs === null ? null : now + parkedRetryMs);
    return { kind: 'failed', controller, plan: undefined, reason };
  }
}

function decideNow(state: ServiceState, controller: Controller, now: number, inputs: DecisionInputs): Decision {
  const { settings } = inputs;
  const { released, compaction: requested, topologyDueAt, ...before } = state.controller(controller);
  const dueAt = settings.policy.dueAfterDecision({ controller, state: before, now });
  if (settings.policy.isStale(state, controller)) {
    state.setController(controller, { ...before, dueAt, causes: noCauses });
    return { kind: 'decided', controller, plan: undefined, counts: null };
  }
  const reconciled = reconcile(state, controller, before, settings);
  const { triggers, hints } = reconciled;
  const isConverged = reconciled.plan.groups.length === 0;
  const compacted = requested && isConverged ? compact(state, requested, reconciled.counts, now, settings) : undefined;
  const plan = compacted === undefined ? reconciled.plan : { ...reconciled.plan, groups: compacted.groups };
  const { counts } = compacted ?? reconciled;
  const idle: ControllerState = {
    ...before,
    ...afterDecision(before, plan.groups.length > 0),
    tracked: trackUnchanged(state, controller, before.tracked, plan, settings),
    counted: counts?.service ?? null,
    dueAt,
    causes: noCauses,
    parked: null,
    // First what has changed, then the compaction.
    ...(requested && !isConverged && { compaction: requested }),
  };
  if (controller === 'endpoints' && state.endpoints === null) state.setOrphaned(false);
  if (plan.groups.length === 0 && plan.events.length === 0 && plan.incomplete.length === 0) {
    state.setController(controller, { ...idle, failures: 0, parkedSince: null, triggers, hints });
    return { kind: 'decided', controller, plan: undefined, counts };
  }
  const writes = plannedMutations(state, controller, plan, idle, now, inputs);
  const message = compacted === undefined ? writes : { ...writes, compaction: compacted.compaction };
  const inFlight = {
    message,
    triggersAfter: triggers,
    hintsAfter: hints,
    watchEchoes: {},
    redeliverAt: redeliverAt(now, 0),
    redeliveries: 0,
    ...(inputs.trace !== undefined && { trace: inputs.trace }),
  };
  state.setController(controller, { ...idle, inFlight });
  return { kind: 'decided', controller, plan: message, counts };
}

/** The message of a plan. `state` is still as it was before the decision, `idle` the controller's state after it. */
function plannedMutations(
  state: ServiceState,
  controller: Controller,
  plan: Plan,
  idle: ControllerState,
  now: number,
  { nextPlan: id, readyElsewhere }: DecisionInputs,
): PlannedMutations {
  const { causes, repairing, foreignWrites, unconfirmedCreates } = state.controller(controller);
  const isCompeting = idle.repairs >= freeRepairs || foreignWrites?.unrepaired === true;
  const service = state.service?.service;
  const ownerUid = service?.uid ?? state.endpoints?.endpoints.metadata.uid ?? '';
  const groups: readonly MutationGroup[] = withDerivedNames(plan.groups, {
    ...{ ownerUid, controller, plan: id, unconfirmed: unconfirmedCreates },
    isTaken: (name) => state.slices.has(name) || unconfirmedCreates?.taken?.includes(name) === true,
  });
  const ready = readyEndpointsDelta(state, controller, groups, readyElsewhere?.(controller) ?? 0);
  return {
    kind: 'mutations',
    key: state.key,
    controller,
    plan: id,
    groups,
    events: plan.events,
    incomplete: plan.incomplete,
    serviceUid: service?.uid ?? '',
    ...(ready && { ready }),
    ...(repairing && isCompeting && { consecutiveRepairs: Math.max(1, idle.repairs) }),
    causes,
    decidedAt: now,
  };
}
