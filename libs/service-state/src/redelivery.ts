import type { Controller } from '@sluice/controllers';
import type { InFlight } from './controller-state.ts';
import type { ServiceState } from './service-state.ts';

/** Longer than a writer takes that is not behind; one that is loses a look at its mark for each time it is asked. */
const firstMs = 5_000;
const maxMs = 600_000;

/** When to ask again for the Outcome of a plan that was sent at `now` and already asked for so many times. */
export function redeliverAt(now: number, redeliveries: number): number {
  return now + Math.min(maxMs, firstMs * 2 ** redeliveries);
}

/** The plan whose Outcome is overdue, to be sent again as it is. A writer that has done it answers from its mark. */
export function redeliver(view: ServiceState, controller: Controller, now: number): InFlight | undefined {
  const state = view.controller(controller);
  const { inFlight } = state;
  if (inFlight === null || inFlight.redeliverAt > now) return undefined;
  const redeliveries = inFlight.redeliveries + 1;
  const again = { ...inFlight, redeliveries, redeliverAt: redeliverAt(now, redeliveries) };
  view.setController(controller, { ...state, inFlight: again });
  return again;
}
