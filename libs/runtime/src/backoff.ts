import type { Random } from './random.ts';

export interface BackoffOptions {
  readonly baseMs: number;
  readonly maxMs: number;
}

/**
 * Delay in milliseconds before retry number `attempt` (0 for the first): exponential, with jitter between half and all of
 * it, so that clients that failed together do not retry together, and none retries immediately.
 */
export function backoffMs(options: BackoffOptions, attempt: number, random: Random): number {
  const ceiling = Math.min(options.maxMs, options.baseMs * 2 ** Math.min(attempt, 30));
  return ceiling / 2 + random.next() * (ceiling / 2);
}
