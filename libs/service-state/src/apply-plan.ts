import { comparePlans, noCauses, type PlannedMutations } from '@sluice/messages';
import { redeliverAt } from './redelivery.ts';
import type { ServiceState } from './service-state.ts';

/** Puts a plan in flight that was decided elsewhere. A redelivered or older plan changes nothing. */
export function applyPlan(state: ServiceState, plan: PlannedMutations, now: number): void {
  const { topologyDueAt, ...before } = state.controller(plan.controller);
  if (before.inFlight !== null && comparePlans(plan.plan, before.inFlight.message.plan) <= 0) return;
  state.setController(plan.controller, {
    ...before,
    dueAt: null,
    causes: noCauses,
    parked: null,
    inFlight: {
      message: plan,
      triggersAfter: before.triggers,
      hintsAfter: before.hints,
      watchEchoes: {},
      redeliverAt: redeliverAt(now, 0),
      redeliveries: 0,
    },
  });
}
