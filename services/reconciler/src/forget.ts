import { type Controller, endpointSliceTracker } from '@sluice/controllers';
import type { Stamp } from '@sluice/messages';
import type { ServiceView } from './service-view.ts';
import type { Touched } from './touched.ts';

/** Its Pods are forgotten with it: if it comes back, a snapshot tells them again. */
export function forgetService(view: ServiceView, stamp: Stamp, touched: Touched): void {
  if (view.service?.service) view.set('orphaned', true);
  view.set('service', { service: null, stamp });
  view.set('topology', undefined);
  for (const name of [...view.pods.keys()]) view.removePod(name);
  forgetAllTracked(view);
  touched.all();
}

const trackingControllers: readonly Controller[] = ['endpointslice', 'endpointslicemirroring'];

/** A slice is seen to be gone: nothing more is expected of it (C19). */
export function forgetTracked(view: ServiceView, uid: string): void {
  for (const controller of trackingControllers) {
    const state = view.controller(controller);
    const { state: tracked } = endpointSliceTracker.handleDeletion(state.tracked, { metadata: { uid } });
    if (tracked !== state.tracked) view.setController(controller, { ...state, tracked });
  }
}

/** As with a deleted Service (C19). */
export function forgetAllTracked(view: ServiceView): void {
  for (const controller of trackingControllers) {
    const state = view.controller(controller);
    if (!endpointSliceTracker.isEmpty(state.tracked))
      view.setController(controller, { ...state, tracked: endpointSliceTracker.deleteService() });
  }
}
