import {
  type Controller,
  type EndpointSlice,
  endpointSliceTracker,
  type MutationGroup,
  type Plan,
  reconcileEndpointSlices,
  reconcileEndpoints,
  reconcileMirroring,
  type ServiceHints,
  type SyncCounts,
  type TrackedSlices,
  type TriggerTimes,
} from '@sluice/controllers';
import { isMirrored, isOwn, slicesOf } from './own-slices.ts';
import type { ServiceState } from './service-state.ts';
import type { Settings } from './settings.ts';

export interface Reconciled {
  readonly plan: Plan;
  readonly triggers: TriggerTimes | null;
  readonly hints: ServiceHints | null;
  readonly counts: SyncCounts | null;
}

/**
 * Runs a controller on the state. Controllers cache parts of their last result by object identity (ADR 0044); the cache
 * affects speed only.
 */
export function reconcile(state: ServiceState, controller: Controller, settings: Settings): Reconciled {
  const { triggers, hints } = state.controller(controller);
  const service = state.service?.service ?? null;
  const policy = settings.policy.decisions;
  switch (controller) {
    case 'endpoints': {
      const decision = reconcileEndpoints({
        service,
        pods: [...state.pods.values()],
        existing: state.endpoints?.endpoints ?? null,
        orphaned: state.orphaned,
        triggers,
        policy,
      });
      return { ...decision, hints: null, counts: null };
    }
    case 'endpointslice':
      return reconcileEndpointSlices({
        service,
        pods: [...state.pods.values()],
        slices: slicesOf(state, controller),
        triggers,
        topology: state.topology,
        hints,
        maxEndpointsPerSlice: settings.maxEndpointsPerSlice,
        policy,
      });
    case 'endpointslicemirroring': {
      const { plan, counts } = reconcileMirroring({
        service,
        endpoints: state.endpoints?.endpoints ?? null,
        slices: slicesOf(state, controller),
        maxEndpointsPerSubset: settings.maxEndpointsPerSubset,
        policy,
      });
      return { plan, triggers: null, hints: null, counts };
    }
  }
}

/**
 * Mirrored slices that need no write are tracked from now on (H15); those of the EndpointSlice controller only if
 * generations prove something. A clean-up of mirrored slices clears the tracker (H6).
 */
export function trackUnchanged(
  state: ServiceState,
  controller: Controller,
  groups: readonly MutationGroup[],
  { policy }: Settings,
): TrackedSlices {
  const { tracked } = state.controller(controller);
  if (controller === 'endpoints' || (controller === 'endpointslice' && !policy.provesByGeneration)) return tracked;
  if (controller === 'endpointslicemirroring' && !isMirrored(state)) return endpointSliceTracker.noTrackedSlices;
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
