import type { Controller } from '@sluice/controllers';
import type { OutcomeStatus } from '@sluice/messages';
import { type BackoffOptions, backoffMs, type Random } from '@sluice/runtime';
import { type ControllerState, pending } from './controller-state.ts';
import type { Settings } from './settings.ts';

/** B3: the back-off per item of upstream's queues. */
const upstreamBackoff: Readonly<Record<Controller, BackoffOptions>> = {
  endpoints: { baseMs: 5, maxMs: 1_000_000 },
  endpointslice: { baseMs: 1000, maxMs: 1_000_000 },
  endpointslicemirroring: { baseMs: 1000, maxMs: 100_000 },
};

/** When to decide again after a plan that came to nothing, in milliseconds since the Unix epoch. */
export function retryTime(
  controller: Controller,
  state: ControllerState,
  status: OutcomeStatus,
  now: number,
  settings: Settings,
  random: Random,
): number {
  const { failures } = state;
  if (settings.reproduce.has('B3')) {
    const { baseMs, maxMs } = upstreamBackoff[controller];
    // B2: an item that already waits for its time keeps the earlier one.
    return Math.min(pending(state, now), now + Math.min(maxMs, baseMs * 2 ** failures));
  }
  // The first conflict is decided anew at once: its Outcome brought what is there now.
  if (status === 'conflict' && failures === 0) return now;
  return now + backoffMs(settings.backoff, failures, random);
}
