import type { Controller } from '@sluice/controllers';
import type { InFlight } from './controller-state.ts';
import type { ServiceState } from './service-state.ts';

/** Longer than a writer without a backlog takes. */
const firstMs = 5_000;
const maxMs = 600_000;

/** How long a plan waits for its Outcome after so many redeliveries. */
export function maxRedeliveryMs(redeliveries: number): number {
  return Math.min(maxMs, firstMs * 2 ** redeliveries);
}

/** When to publish a plan again that was last published at `now`, and again `redeliveries` times before. */
export function redeliverAt(now: number, redeliveries: number): number {
  return now + maxRedeliveryMs(redeliveries);
}

/**
 * Counts a redelivery if the Outcome of the plan in flight is overdue, and returns the plan, which is published unchanged.
 * A writer that is applying it publishes one Outcome for both; one that has completed it answers with a conflict, and the reconciler decides
 * again.
 */
export function redeliver(state: ServiceState, controller: Controller, now: number): InFlight | undefined {
  const before = state.controller(controller);
  const { inFlight } = before;
  if (inFlight === null || inFlight.redeliverAt > now) return undefined;
  // Reachable: plan redelivered
  const redeliveries = inFlight.redeliveries + 1;
  const again = { ...inFlight, redeliveries, redeliverAt: redeliverAt(now, redeliveries) };
  state.setController(controller, { ...before, inFlight: again });
  return again;
}
