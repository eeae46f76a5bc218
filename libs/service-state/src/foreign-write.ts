import { endpointSliceTracker, type TrackedSlices } from '@sluice/controllers';
import type { MutationResult, Outcome } from '@sluice/messages';
import type { Controller, EndpointSlice } from '@sluice/model';
import type { InFlight } from './controller-state.ts';
import type { ServiceState } from './service-state.ts';
import type { Settings } from './settings.ts';

/**
 * Notices that another client wrote the content of a slice, from a version that is newer than the known one. Not called while
 * a plan that writes the slice is in flight: until its Outcome arrives, the version may be its own.
 */
export function noticeForeignWrite(
  state: ServiceState,
  controller: Controller,
  slice: EndpointSlice,
  now: number,
  { policy }: Settings,
): void {
  const before = state.controller(controller);
  const { tracked } = before.trackers;
  if (!policy.provesByGeneration || !endpointSliceTracker.has(tracked, slice)) return;
  if (endpointSliceTracker.proofOf(tracked, slice) === 'foreignWrite') {
    const count = (before.repairs.foreignWrites?.count ?? 0) + 1;
    const foreignWrites = { count, slice: slice.metadata.name, at: now, unrepaired: true };
    state.setController(controller, { ...before, repairs: { ...before.repairs, foreignWrites } });
  }
  // Also the end of uncertainty: of a write that was stored after all, this is the version.
  setTracked(state, controller, endpointSliceTracker.observe(tracked, slice));
}

/**
 * The same for what the watch delivered while the plan was in flight, once its Outcome says which generation is its own.
 * `state` has the tracker after the Outcome.
 */
export function noticeForeignWrites(
  state: ServiceState,
  controller: Controller,
  results: readonly MutationResult[],
  now: number,
  settings: Settings,
): void {
  for (const { name, stored } of results) {
    const slice = stored && state.slices.get(name)?.slice;
    if (slice !== undefined && slice.metadata.uid === stored?.uid)
      noticeForeignWrite(state, controller, slice, now, settings);
  }
}

/** The tracker after an Outcome. */
export function uncertainAfter(
  state: ServiceState,
  tracked: TrackedSlices,
  inFlight: InFlight,
  { status, results }: Pick<Outcome, 'status' | 'results'>,
): TrackedSlices {
  if (status !== 'applied') return expectUncertain(state, tracked, inFlight, results);
  const present = () => new Set([...state.slices.values()].map(({ slice }) => slice.metadata.uid ?? ''));
  return endpointSliceTracker.endUncertainty(tracked, present);
}

/** The tracker after a plan ended without a result for some of its updates: they may have been stored. */
export function expectUncertain(
  state: ServiceState,
  tracked: TrackedSlices,
  { message }: Pick<InFlight, 'message'>,
  results: readonly MutationResult[],
): TrackedSlices {
  let next = tracked;
  for (const [group, { mutations }] of message.groups.entries()) {
    for (const [index, mutation] of mutations.entries()) {
      if (mutation.verb !== 'update' || mutation.resource !== 'endpointslices') continue;
      const result = results.find((one) => one.group === group && one.index === index);
      if (result?.status === 'applied') continue;
      const { name, uid } = mutation.object.metadata;
      // A slice that takes the content of a new one is named without its uid.
      const known = uid ?? state.slices.get(name)?.slice.metadata.uid;
      next = endpointSliceTracker.expectUncertain(next, known ?? '');
    }
  }
  return next;
}

export function setTracked(state: ServiceState, controller: Controller, tracked: TrackedSlices): void {
  const before = state.controller(controller);
  if (tracked !== before.trackers.tracked)
    state.setController(controller, { ...before, trackers: { ...before.trackers, tracked } });
}
