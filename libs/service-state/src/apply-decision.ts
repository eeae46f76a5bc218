import { endpointsWriter } from '@sluice/controllers';
import { noCauses, type PlannedMutations } from '@sluice/messages';
import type { Controller } from '@sluice/model';
import type { ControllerState } from './controller-state.ts';
import type { Decision, Tracked } from './decide.ts';
import { trackUnchanged } from './reconcile.ts';
import { redeliverAt, redelivered } from './redelivery.ts';
import { afterDecision } from './repair.ts';
import { park } from './retries.ts';
import type { ServiceState } from './service-state.ts';
import type { Settings } from './settings.ts';

/** Applies what a controller decided at `now`. */
export function applyDecision(state: ServiceState, decision: Decision, now: number, settings: Settings): void {
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
      const retries = { ...idle.retries, failures: 0, parkedSince: null };
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
