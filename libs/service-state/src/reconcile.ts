import {
  controllerManaging,
  descriptorOf,
  endpointSliceTracker,
  endpointsWriter,
  type Reconciled,
  reads,
  sliceControllers,
  type TrackedSlices,
} from '@sluice/controllers';
import {
  type Controller,
  type EndpointSlice,
  type MutationGroup,
  managedByLabel,
  serviceNameLabel,
} from '@sluice/model';
import type { ServiceState } from './service-state.ts';
import type { Settings } from './settings.ts';

/**
 * Runs a controller on the state. Controllers cache parts of their last result by object identity (ADR 0044); the cache
 * affects speed only.
 */
export function reconcile(state: ServiceState, controller: Controller, settings: Settings): Reconciled {
  const { triggers, hints } = state.controller(controller).trackers;
  const { writes, reconcile } = descriptorOf(controller);
  return reconcile({
    service: state.service?.service ?? null,
    pods: reads(controller, 'pods') ? [...state.pods.values()] : [],
    endpoints: state.endpoints?.endpoints ?? null,
    orphaned: state.orphaned,
    slices: writes === 'endpointslices' ? slicesOf(state, controller) : [],
    topology: state.topology,
    triggers,
    hints,
    maxEndpointsPerSlice: settings.maxEndpointsPerSlice,
    maxEndpointsPerSubset: settings.maxEndpointsPerSubset,
    policy: settings.policy.decisions,
  });
}

/**
 * Mirrored slices that need no write are tracked from now on (H15); those of other controllers only if generations prove
 * something. A clean-up of mirrored slices clears the tracker (H6).
 */
export function trackUnchanged(
  state: ServiceState,
  controller: Controller,
  groups: readonly MutationGroup[],
  { policy }: Settings,
): TrackedSlices {
  const { tracked } = state.controller(controller).trackers;
  const { writes, trackers } = descriptorOf(controller);
  if (writes === 'endpoints' || !(trackers.unchanged || policy.provesByGeneration)) return tracked;
  if (trackers.needsNone?.(state.service?.service ?? null, state.endpoints?.endpoints ?? null))
    return endpointSliceTracker.noTrackedSlices;
  const untracked: EndpointSlice[] = [];
  for (const { slice } of state.slices.values()) {
    if (isOwn(state, slice, controller) && !endpointSliceTracker.has(tracked, slice)) untracked.push(slice);
  }
  if (untracked.length === 0) return tracked;
  const written = new Set(
    groups.flatMap(({ mutations }) => mutations.map((m) => (m.verb === 'delete' ? m.name : m.object.metadata.name))),
  );
  let next = tracked;
  for (const slice of untracked) {
    if (!written.has(slice.metadata.name)) next = endpointSliceTracker.update(next, slice);
  }
  return next;
}

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
