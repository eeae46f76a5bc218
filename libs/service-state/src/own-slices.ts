import { controllerManaging, endpointsWriter, sliceControllers } from '@sluice/controllers';
import { type Controller, type EndpointSlice, managedByLabel, serviceNameLabel } from '@sluice/model';
import type { ServiceState } from './service-state.ts';

/** The controller that the slice's label names; undefined: none of ours. */
export function managerOf(slice: EndpointSlice): Controller | undefined {
  return controllerManaging(slice.metadata.labels?.[managedByLabel]);
}

/** The controller that decides again when the slice changes; for a slice that none of ours manages, the first one. */
export function observerOf(slice: EndpointSlice): Controller {
  return managerOf(slice) ?? sliceControllers[0] ?? endpointsWriter;
}

/** Whether the controller manages the slice for this Service. */
export function isOwn(state: ServiceState, slice: EndpointSlice, controller: Controller): boolean {
  return managerOf(slice) === controller && belongsToService(state, slice);
}

/** False if a client changed the label that names the slice's Service. */
export function belongsToService(state: ServiceState, slice: EndpointSlice): boolean {
  return slice.metadata.labels?.[serviceNameLabel] === state.key.service;
}

/**
 * The controller's slices, the oldest first. Of slices with the same endpoints, decisions keep the first; two controllers
 * that both write must agree on it, or each deletes the other's (ADR 0054).
 */
export function slicesOf(state: ServiceState, controller: Controller): EndpointSlice[] {
  const slices: EndpointSlice[] = [];
  for (const { slice } of state.slices.values()) if (isOwn(state, slice, controller)) slices.push(slice);
  return slices.sort(byAge);
}

/** A slice whose creation time is not known yet counts as the newest. */
function byAge({ metadata: a }: EndpointSlice, { metadata: b }: EndpointSlice): number {
  const [createdA = '~', createdB = '~'] = [a.creationTimestamp, b.creationTimestamp];
  if (createdA !== createdB) return createdA < createdB ? -1 : 1;
  return a.name < b.name ? -1 : 1;
}
