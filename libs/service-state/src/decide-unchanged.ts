import { decisionOrder } from '@sluice/controllers';
import { decide } from './decide.ts';
import { wantsDecisionAt } from './due.ts';
import { evolve } from './evolve.ts';
import type { ServiceState } from './service-state.ts';
import type { Settings } from './settings.ts';

/**
 * Makes the decisions that are due until then and lead to no plan, and leaves the others: the log of a Service has only decisions
 * with a plan.
 */
export function decideUnchanged(state: ServiceState, now: number, settings: Settings, until = now): void {
  const { complete, open } = state.snapshot;
  if (!complete || open !== null) return;
  for (const controller of decisionOrder) {
    const { inFlight, retries, timers } = state.controller(controller);
    const at = wantsDecisionAt(timers);
    if (inFlight !== null || at === null || at > until || (retries.parked !== null && at > now)) continue;
    const nextPlan = { epoch: 0, number: 0 };
    const decision = decide(state, controller, Math.max(at, now), { settings, nextPlan });
    if (decision?.kind === 'unchanged') evolve(state, decision, now, settings);
  }
}
