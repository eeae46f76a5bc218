import type { OutcomeStatus } from '@sluice/messages';
import { type BackoffOptions, backoffMs } from './backoff.ts';
import type { Retries } from './controller-state.ts';

/** When to decide again after a failed plan, in milliseconds since the Unix epoch. `jitter`: from 0 to 1. */
export function retryAt(
  { state: { failures }, now }: { readonly state: Retries; readonly now: number },
  status: OutcomeStatus,
  backoff: BackoffOptions,
  jitter: number,
): number {
  // The Outcome of a conflict carries the current object, so the first retry need not wait.
  if (status === 'conflict' && failures === 0) return now;
  return now + backoffMs(backoff, failures, jitter);
}
