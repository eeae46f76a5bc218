import { type BackoffOptions, backoffMs, type Clock, type Random, sleep } from '@sluice/runtime';
import { type ApiError, isApiError } from '../api-error.ts';
import type { Middleware } from '../middleware.ts';

export interface RetryOptions {
  readonly backoff: BackoffOptions;
  /** Number of attempts, the first included. */
  readonly attempts: number;
}

export interface RetryPorts {
  readonly clock: Clock;
  readonly random: Random;
  /** Aborts the wait for the next attempt; the last error is thrown then. */
  readonly signal: AbortSignal;
  /** Called before the wait. `attempt` is the number of the attempt that failed, from 1. */
  readonly onFailure: (error: ApiError, attempt: number, delayMs: number) => void;
  /** Called after the wait, before the next attempt. */
  readonly onRetry: () => void;
}

/**
 * Repeats requests that fail for a transient reason (429, 5xx, a broken connection), with jittered exponential backoff, and
 * not before the server's Retry-After.
 */
export function retryRequests({ backoff, attempts }: RetryOptions, ports: RetryPorts): Middleware {
  const { clock, random, signal, onFailure, onRetry } = ports;
  return async (request, next) => {
    for (let attempt = 1; ; attempt++) {
      try {
        return await next(request);
      } catch (error) {
        if (!isApiError(error) || error.reaction !== 'retry' || attempt >= attempts) throw error;
        const delayMs = Math.max(backoffMs(backoff, attempt - 1, random), error.retryAfterMs ?? 0);
        onFailure(error, attempt, delayMs);
        await sleep(clock, delayMs, signal);
        if (signal.aborted) throw error;
        onRetry();
      }
    }
  };
}
