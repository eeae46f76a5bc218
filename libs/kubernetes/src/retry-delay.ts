import { backoffMs, type Random } from '@sluice/runtime';
import { ApiError } from './api-error.ts';

/** Transient errors: broken connections, overload. */
const transient = { baseMs: 400, maxMs: 30_000 };
/** Errors that need an operator: permissions, tokens. */
const persistent = { baseMs: 5_000, maxMs: 120_000 };

/** Whether the error may pass without an operator. */
export const isTransient = ({ kind }: ApiError): boolean => kind === 'gone' || kind === 'retry';

/** Milliseconds until the next attempt. `failures` is the number of consecutive failures before this one. */
export function retryDelayMs(error: ApiError, failures: number, random: Random): number {
  const backoff = backoffMs(isTransient(error) ? transient : persistent, failures, random);
  return Math.max(backoff, error.retryAfterMs ?? 0);
}

/** A successful response that the reflector rejects. */
export function readerError(kind: 'retry' | 'gone' | 'terminal', reason: string, message: string): ApiError {
  return new ApiError(message, { kind, status: 0, reason });
}
