import { backoffMs, type Random } from '@sluice/runtime';
import { ApiError } from './api-error.ts';

/** For what passes by itself: broken connections, overload. */
const quick = { baseMs: 400, maxMs: 30_000 };
/** For what a person must repair: permissions, tokens. */
const slow = { baseMs: 5_000, maxMs: 120_000 };

/** Milliseconds until a reader tries again after its failure number `failures` (0 for the first) in a row. */
export function retryDelayMs(error: ApiError, failures: number, random: Random): number {
  const passing = error.reaction === 'gone' || error.reaction === 'retry';
  const backoff = backoffMs(passing ? quick : slow, failures, random);
  return Math.max(backoff, error.retryAfterMs ?? 0);
}

/** What a reader finds wrong with answers that the server takes for right. */
export function readerError(reaction: 'retry' | 'gone', reason: string, message: string): ApiError {
  return new ApiError(message, { reaction, status: 0, reason });
}
