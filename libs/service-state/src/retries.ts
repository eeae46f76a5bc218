import { formatServiceKey, hash32, type Outcome, type OutcomeStatus } from '@sluice/messages';
import type { ControllerState } from './controller-state.ts';

export interface BackoffOptions {
  readonly baseMs: number;
  readonly maxMs: number;
}

/**
 * Delay in milliseconds after `failures` failed attempts: exponential, with `jitter` (0 to 1) spread over the upper half,
 * so that Services that fail together are not retried together.
 */
export function backoffMs({ baseMs, maxMs }: BackoffOptions, failures: number, jitter: number): number {
  const ceiling = Math.min(maxMs, baseMs * 2 ** Math.min(failures, 30));
  return (ceiling / 2) * (1 + jitter);
}

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
  return now + backoffMs(backoff, retries.failures, jitter);
}

/** Parks a controller of a Service: it decides nothing before `dueAt` or the next Change. A plan in flight stays in flight. */
export function park(state: ControllerState, reason: string, now: number, dueAt: number | null): ControllerState {
  const { timers, retries } = state;
  const parkedSince = retries.parkedSince ?? now;
  return { ...state, timers: { ...timers, dueAt }, retries: { ...retries, parked: reason, parkedSince } };
}
