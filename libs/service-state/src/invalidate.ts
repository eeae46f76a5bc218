import { decisionOrder } from './decide.ts';
import type { ServiceState } from './service-state.ts';

/**
 * What the view says may be outdated or incomplete: nothing is decided before the next snapshot has ended. The Outcomes of
 * plans in flight may be among what was lost, so they are not waited for; all is decided anew then.
 */
export function invalidate(view: ServiceState, now: number): void {
  view.set('snapshot', { ...view.snapshot, complete: false, open: null });
  for (const controller of decisionOrder) {
    const state = view.controller(controller);
    if (state.inFlight !== null) view.setController(controller, { ...state, inFlight: null, dueAt: now });
  }
}
