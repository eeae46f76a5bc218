import { formatServiceKey, hash32, type Outcome, type OutcomeStatus } from '@sluice/messages';
import { type BackoffOptions, backoffMs } from '@sluice/platform';
import type { ControllerState } from './controller-state.ts';

/** A number from 0 to 1 that differs between plans but is always the same for one plan: replaying a log repeats it. */
export function jitterOf({ key, controller, plan }: Pick<Outcome, 'key' | 'controller' | 'plan'>): number {
  return hash32(`${formatServiceKey(key)}/${controller}/${plan.epoch}/${plan.number}`) / 2 ** 32;
}

/** When to decide again after a failed plan, in milliseconds since the Unix epoch. `jitter`: from 0 to 1. */
export function retryAt(
  { state: { retries }, now }: { readonly state: Pick<ControllerState, 'retries'>; readonly now: number },
  status: OutcomeStatus,
  backoff: BackoffOptions,
  jitter: number,
): number {
  // The Outcome of a conflict carries the current object, so the first retry need not wait.
  if (status === 'conflict' && retries.failures === 0) return now;
  return now + backoffMs(backoff, retries.failures, { next: () => jitter });
}

/** Parks a controller of a Service: it decides nothing before `dueAt` or the next Change. A plan in flight stays in flight. */
export function park(state: ControllerState, reason: string, now: number, dueAt: number | null): ControllerState {
  const { timers, retries } = state;
  const parkedSince = retries.parkedSince ?? now;
  return { ...state, timers: { ...timers, dueAt }, retries: { ...retries, parked: reason, parkedSince } };
}
