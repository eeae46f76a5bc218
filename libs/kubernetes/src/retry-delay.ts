import { backoffMs, type Random } from '@sluice/runtime';
import { ApiError } from './api-error.ts';

/** Transient errors: broken connections, overload. */
const transient = { baseMs: 400, maxMs: 30_000 };
/** Errors that need an operator: permissions, tokens. */
const persistent = { baseMs: 5_000, maxMs: 120_000 };

/** Milliseconds until the next attempt. `failures` is the number of consecutive failures before this one. */
export function retryDelayMs(error: ApiError, failures: number, random: Random): number {
  const isTransient = error.kind === 'gone' || error.kind === 'retry';
  const backoff = backoffMs(isTransient ? transient : persistent, failures, random);
  return Math.max(backoff, error.retryAfterMs ?? 0);
}

/** A successful response that the reflector rejects. */
export function readerError(kind: 'retry' | 'gone', reason: string, message: string): ApiError {
  return new ApiError(message, { kind, status: 0, reason });
}
