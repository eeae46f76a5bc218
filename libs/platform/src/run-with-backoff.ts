import { type Clock, sleep } from './clock.ts';
import type { Logger } from './logger.ts';
import type { Random } from './random.ts';

interface RunWithBackoffOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Errors that a restart cannot fix; they are rethrown. */
  readonly isFatal: (error: unknown) => boolean;
}

/** A run that lasted this long resets the backoff: the next failure counts as the first. */
const stableRunMs = 60_000;

/**
 * Runs a long-running task until it returns or `signal` aborts, and restarts it with exponential backoff each time it
 * fails. The task must resume from its stored state.
 */
export async function runWithBackoff(
  task: () => Promise<void>,
  { clock, random, logger, isFatal }: RunWithBackoffOptions,
  signal: AbortSignal,
): Promise<void> {
  for (let failures = 0; ; failures++) {
    const startedAt = clock.monotonic();
    try {
      return await task();
    } catch (error) {
      if (signal.aborted) return;
      if (isFatal(error)) throw error;
      if (clock.monotonic() - startedAt > stableRunMs) failures = 0;
      const delayMs = backoffMs({ baseMs: 100, maxMs: 30_000 }, failures, random);
      logger.error('failed; restarting from stored state', { error, delayMs: Math.round(delayMs) });
      await sleep(clock, delayMs, signal);
    }
  }
}

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
