import { endpointSliceTracker, sliceControllers, type TrackedSlices } from '@sluice/controllers';
import type { Stamp } from '@sluice/messages';
import type { Controller } from '@sluice/model';
import type { ServiceState } from './service-state.ts';
import type { WorkSet } from './work-set.ts';

/** Removes a deleted Service and its Pods. Should it be created again, a snapshot lists its Pods. */
export function removeService(state: ServiceState, stamp: Stamp, work: WorkSet): void {
  if (state.service?.service) state.setOrphaned(true);
  state.setService({ service: null, stamp });
  state.setTopology(null);
  for (const name of [...state.pods.keys()]) state.removePod(name);
  clearTracked(state);
  work.addAll();
}

/** The watch has reported the deletion of a slice (C19). */
export function removeTracked(state: ServiceState, uid: string): void {
  updateTracked(state, (tracked) => endpointSliceTracker.handleDeletion(tracked, { metadata: { uid } }).state);
}

/** A list lacks the slice (C19). */
export function handleMissing(state: ServiceState, uid: string): void {
  updateTracked(state, (tracked) => endpointSliceTracker.handleMissing(tracked, uid));
}

/** The Service was deleted, or a watcher has started (C19). */
export function clearTracked(state: ServiceState): void {
  updateTracked(state, (tracked) =>
    endpointSliceTracker.isEmpty(tracked) ? tracked : endpointSliceTracker.deleteService(),
  );
}

function updateTracked(state: ServiceState, update: (tracked: TrackedSlices) => TrackedSlices): void {
  for (const controller of sliceControllers)
    setTracked(state, controller, update(state.controller(controller).trackers.tracked));
}

export function setTracked(state: ServiceState, controller: Controller, tracked: TrackedSlices): void {
  const before = state.controller(controller);
  if (tracked !== before.trackers.tracked)
    state.setController(controller, { ...before, trackers: { ...before.trackers, tracked } });
}
