import { backoffMs } from './backoff.ts';
import { type Clock, sleep } from './clock.ts';
import type { Logger } from './logger.ts';
import type { Random } from './random.ts';

export interface RunWithBackoffOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Errors that are not for us to mend: they are thrown. */
  readonly isFatal: (error: unknown) => boolean;
}

/** A run that lasted this long was a good one: the next failure counts as the first. */
const goodRunMs = 60_000;

/**
 * Runs a task that is meant to go on until `signal` aborts, and starts it again, after a growing pause, each time it
 * fails. The task must take up its work from what it stored.
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
      if (clock.monotonic() - startedAt > goodRunMs) failures = 0;
      const delayMs = backoffMs({ baseMs: 100, maxMs: 30_000 }, failures, random);
      logger.error('failed; starting again from what is stored', { error, delayMs: Math.round(delayMs) });
      await sleep(clock, delayMs, signal);
    }
  }
}
