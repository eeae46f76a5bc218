import { endpointSliceTracker, sliceControllers } from '@sluice/controllers';
import type { Stamp } from '@sluice/messages';
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
  for (const controller of sliceControllers) {
    const before = state.controller(controller);
    const { state: tracked } = endpointSliceTracker.handleDeletion(before.tracked, { metadata: { uid } });
    if (tracked !== before.tracked) state.setController(controller, { ...before, tracked });
  }
}

/** A list lacks the slice (C19). */
export function handleMissing(state: ServiceState, uid: string): void {
  for (const controller of sliceControllers) {
    const before = state.controller(controller);
    const tracked = endpointSliceTracker.handleMissing(before.tracked, uid);
    if (tracked !== before.tracked) state.setController(controller, { ...before, tracked });
  }
}

/** The Service was deleted, or a watcher has started (C19). */
export function clearTracked(state: ServiceState): void {
  for (const controller of sliceControllers) {
    const before = state.controller(controller);
    if (!endpointSliceTracker.isEmpty(before.tracked))
      state.setController(controller, { ...before, tracked: endpointSliceTracker.deleteService() });
  }
}
