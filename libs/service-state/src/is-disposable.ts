import { decisionOrder } from './decision-order.ts';
import type { ServiceState } from './service-state.ts';

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
    const { dueAt, inFlight, parked } = state.controller(controller);
    return inFlight === null && parked === null && (!snapshot.complete || dueAt === null);
  });
}
