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
      return state.setController(controller, { ...idle, failures: 0, parkedSince: null, triggers, hints });
    }
    case 'redelivered':
      return state.setController(controller, redelivered(state.controller(controller), now));
    case 'parked': {
      const { parkedRetryMs } = settings;
      state.setController(controller, { ...state.controller(controller), inFlight: null });
      return park(state, controller, decision.reason, now, parkedRetryMs === null ? null : now + parkedRetryMs);
    }
  }
}

/** The requests for a decision are met. */
function postponed(state: ServiceState, controller: Controller, now: number, { policy }: Settings): ControllerState {
  const { released, compaction, topologyDueAt, ...before } = state.controller(controller);
  return { ...before, dueAt: policy.dueAfterDecision({ controller, state: before, now }), causes: noCauses };
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
  const after: ControllerState = {
    ...postponed(state, controller, now, settings),
    ...afterDecision(before, groups.length > 0, now),
    tracked: trackUnchanged(state, controller, groups, settings),
    counted: counts?.service ?? null,
    parked: null,
    ...(before.compaction && isRequestOpen && { compaction: before.compaction }),
  };
  if (controller === endpointsWriter && state.endpoints === null) state.setOrphaned(false);
  return after;
}
