import { formatServiceKey, hash32, type Outcome } from '@sluice/messages';

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
