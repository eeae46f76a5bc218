import { descriptorOf, endpointSliceTracker, type Reconciled, reads, type TrackedSlices } from '@sluice/controllers';
import type { Controller, EndpointSlice, MutationGroup } from '@sluice/model';
import { isOwn, slicesOf } from './own-slices.ts';
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
