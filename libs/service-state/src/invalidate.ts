import { decisionOrder } from '@sluice/controllers';
import { expectUncertain } from './foreign-write.ts';
import type { ServiceState } from './service-state.ts';

/**
 * Ends the snapshot in progress without effect because a part of it is unreadable: what the missing part would have confirmed
 * must not count as deleted.
 */
export function abortSnapshot(state: ServiceState): void {
  if (state.snapshot.open !== null) state.setSnapshot({ ...state.snapshot, open: null });
}

/**
 * Marks a state as possibly outdated or incomplete because messages were lost. Nothing is decided before the next snapshot
 * has ended. The Outcomes of plans in flight may be among the lost messages, so those plans are dropped and decided again.
 */
export function invalidate(state: ServiceState, now: number): void {
  state.setSnapshot({ ...state.snapshot, complete: false, open: null });
  state.clearTombstones();
  for (const controller of decisionOrder) {
    const before = state.controller(controller);
    const { inFlight, timers, trackers } = before;
    if (inFlight === null) continue;
    const tracked = expectUncertain(state, trackers.tracked, inFlight, []);
    const after = { timers: { ...timers, dueAt: now }, trackers: { ...trackers, tracked } };
    state.setController(controller, { ...before, ...after, inFlight: null });
  }
}
