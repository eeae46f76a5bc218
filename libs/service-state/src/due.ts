import { decisionOrder } from '@sluice/controllers';
import type { Controller } from '@sluice/model';
import type { Timers } from './controller-state.ts';
import type { ServiceState } from './service-state.ts';

/**
 * When a controller next has to act for the Service: publish its plan in flight again, or decide. Null until a message
 * arrives. This is the only definition of "due"; everything else only writes the fields it reads. Milliseconds since the
 * Unix epoch.
 */
export function dueAt(state: ServiceState, controller: Controller): number | null {
  const controllerState = state.controller(controller);
  if (controllerState.inFlight !== null) return controllerState.inFlight.redeliverAt;
  // Without a complete snapshot an object may be missing, and its endpoints would be removed (A9).
  return state.snapshot.complete && state.snapshot.open === null ? wantsDecisionAt(controllerState.timers) : null;
}

/** The earliest `dueAt` of all controllers. */
export function nextDueAt(state: ServiceState): number | null {
  let next: number | null = null;
  for (const controller of decisionOrder) {
    const at = dueAt(state, controller);
    if (at !== null && (next === null || at < next)) next = at;
  }
  return next;
}

export function isDue(state: ServiceState, controller: Controller, now: number): boolean {
  const at = dueAt(state, controller);
  return at !== null && at <= now;
}

/** When the controller would decide if nothing else were in the way: what a work queue calls the time of its key. */
export function wantsDecisionAt({ dueAt, topologyDueAt, cooldownUntil = 0, batch }: Timers): number | null {
  if (dueAt === null && topologyDueAt === undefined) return null;
  const at = Math.min(dueAt ?? Number.POSITIVE_INFINITY, topologyDueAt ?? Number.POSITIVE_INFINITY);
  const batchEndsAt = batch === undefined ? 0 : Math.min(batch.until, at + batch.maxWaitMs);
  return Math.max(at, cooldownUntil, batchEndsAt);
}

/**
 * Whether nothing is left of the Service, no plan is in flight and no decision is due, so that its state may be dropped.
 * The gap detector of the partition keeps a late Change from bringing it back.
 */
export function isDisposable(state: ServiceState): boolean {
  const { service, pods, slices, endpoints, orphaned, snapshot } = state;
  if (service?.service || endpoints || pods.size > 0 || slices.size > 0 || snapshot.open) return false;
  // Endpoints that have not been published yet would not be deleted.
  if (orphaned && !snapshot.complete) return false;
  return decisionOrder.every((controller) => {
    const { inFlight, retries, timers } = state.controller(controller);
    return inFlight === null && retries.parked === null && (!snapshot.complete || timers.dueAt === null);
  });
}
