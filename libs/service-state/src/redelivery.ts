import type { ControllerState } from './controller-state.ts';

/** Longer than a writer without a backlog takes. */
const firstMs = 5_000;
const maxMs = 600_000;

/** How long a plan waits for its Outcome after this many redeliveries. */
export function maxRedeliveryMs(redeliveries: number): number {
  return Math.min(maxMs, firstMs * 2 ** redeliveries);
}

/** When to publish a plan again that was last published at `now`, and again `redeliveries` times before. */
export function redeliverAt(now: number, redeliveries: number): number {
  return now + maxRedeliveryMs(redeliveries);
}

/**
 * The plan in flight is published again, unchanged. A writer that is applying it publishes one Outcome for both; one that
 * has completed it answers with a conflict, and the reconciler decides again.
 */
export function redelivered(state: ControllerState, now: number): ControllerState {
  const { inFlight } = state;
  if (inFlight === null) return state;
  // Reachable: plan redelivered
  const redeliveries = inFlight.redeliveries + 1;
  return { ...state, inFlight: { ...inFlight, redeliveries, redeliverAt: redeliverAt(now, redeliveries) } };
}
