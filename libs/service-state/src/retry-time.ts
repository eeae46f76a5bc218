import type { OutcomeStatus } from '@sluice/messages';
import { type BackoffOptions, backoffMs } from './backoff.ts';
import type { ControllerState } from './controller-state.ts';

/** When to decide again after a plan that came to nothing, in milliseconds since the Unix epoch. */
export function retryAt(
  { state: { failures }, now }: { readonly state: ControllerState; readonly now: number },
  status: OutcomeStatus,
  backoff: BackoffOptions,
  jitter: number,
): number {
  // The first conflict is decided anew at once: its Outcome brought what is there now.
  if (status === 'conflict' && failures === 0) return now;
  return now + backoffMs(backoff, failures, jitter);
}
