import type { Random } from './random.ts';

export interface BackoffOptions {
  readonly baseMs: number;
  readonly maxMs: number;
}

/**
 * Delay before retry number `attempt` (0 for the first): exponential with full jitter in its upper half, so that
 * many clients that failed together come back apart, yet none at once.
 */
export function backoffMs(options: BackoffOptions, attempt: number, random: Random): number {
  const ceiling = Math.min(options.maxMs, options.baseMs * 2 ** Math.min(attempt, 30));
  return ceiling / 2 + random.next() * (ceiling / 2);
}
