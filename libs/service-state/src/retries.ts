import { formatServiceKey, hash32, type Outcome, type OutcomeStatus } from '@sluice/messages';
import type { Controller } from '@sluice/model';
import type { Retries } from './controller-state.ts';
import type { ServiceState } from './service-state.ts';

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
  { state: { failures }, now }: { readonly state: Retries; readonly now: number },
  status: OutcomeStatus,
  backoff: BackoffOptions,
  jitter: number,
): number {
  // The Outcome of a conflict carries the current object, so the first retry need not wait.
  if (status === 'conflict' && failures === 0) return now;
  return now + backoffMs(backoff, failures, jitter);
}

/** Parks a controller of a Service: it decides nothing before `dueAt` or the next Change. A plan in flight stays in flight. */
export function park(
  state: ServiceState,
  controller: Controller,
  reason: string,
  now: number,
  dueAt: number | null,
): void {
  const before = state.controller(controller);
  state.setController(controller, { ...before, dueAt, parked: reason, parkedSince: before.parkedSince ?? now });
}
