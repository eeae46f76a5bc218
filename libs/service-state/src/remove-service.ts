import { type Controller, endpointSliceTracker } from '@sluice/controllers';
import type { Stamp } from '@sluice/messages';
import type { ServiceState } from './service-state.ts';
import type { WorkSet } from './work-set.ts';

/** Its Pods are forgotten with it: if it comes back, a snapshot tells them again. */
export function removeService(view: ServiceState, stamp: Stamp, touched: WorkSet): void {
  if (view.service?.service) view.set('orphaned', true);
  view.set('service', { service: null, stamp });
  view.set('topology', undefined);
  for (const name of [...view.pods.keys()]) view.removePod(name);
  clearTracked(view);
  touched.all();
}

const trackingControllers: readonly Controller[] = ['endpointslice', 'endpointslicemirroring'];

/** A slice is seen to be gone: nothing more is expected of it (C19). */
export function removeTracked(view: ServiceState, uid: string): void {
  for (const controller of trackingControllers) {
    const state = view.controller(controller);
    const { state: tracked } = endpointSliceTracker.handleDeletion(state.tracked, { metadata: { uid } });
    if (tracked !== state.tracked) view.setController(controller, { ...state, tracked });
  }
}

/** As with a deleted Service (C19). */
export function clearTracked(view: ServiceState): void {
  for (const controller of trackingControllers) {
    const state = view.controller(controller);
    if (!endpointSliceTracker.isEmpty(state.tracked))
      view.setController(controller, { ...state, tracked: endpointSliceTracker.deleteService() });
  }
}
