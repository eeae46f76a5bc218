import { decisionOrder } from './decide.ts';
import type { ServiceState } from './service-state.ts';

/**
 * Nothing is left of the Service, nothing is under way for it and nothing is to be decided: its view may be dropped. It is
 * as if it had never been told of; when it was, the partition still knows (`Heard`), so a late Change does not bring it back.
 */
export function isDisposable(view: ServiceState): boolean {
  const { service, pods, slices, endpoints, orphaned, snapshot } = view;
  if (service?.service || endpoints || pods.size > 0 || slices.size > 0 || snapshot.open) return false;
  // Endpoints that are yet to be told of would not be deleted.
  if (orphaned && !snapshot.complete) return false;
  return decisionOrder.every((controller) => {
    const { dueAt, inFlight, parked } = view.controller(controller);
    return inFlight === null && (!snapshot.complete || (dueAt === null && parked === null));
  });
}
