import type { Controller } from '@sluice/controllers';
import type { InFlight } from './controller-state.ts';
import type { ServiceView } from './service-view.ts';

/** Longer than a writer takes that is not behind; one that is loses a look at its mark for each time it is asked. */
const firstMs = 5_000;
const maxMs = 600_000;

/** When to ask again for the Outcome of a plan that was sent at `now` and already asked for so many times. */
export function askAt(now: number, asked: number): number {
  return now + Math.min(maxMs, firstMs * 2 ** asked);
}

/** The plan whose Outcome is overdue, to be sent again as it is. A writer that has done it answers from its mark. */
export function askAgain(view: ServiceView, controller: Controller, now: number): InFlight | undefined {
  const state = view.controller(controller);
  const { inFlight } = state;
  if (inFlight === null || inFlight.askAt > now) return undefined;
  const asked = inFlight.asked + 1;
  const again = { ...inFlight, asked, askAt: askAt(now, asked) };
  view.setController(controller, { ...state, inFlight: again });
  return again;
}
