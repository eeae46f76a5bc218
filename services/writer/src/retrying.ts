import { isApiError } from '@sluice/kubernetes';
import { type BackoffOptions, backoffMs, type Clock, type Logger, type Random, sleep } from '@sluice/runtime';

/** Runs a request, again if it makes sense. `onRetry` is called before each repetition. */
export type Retrying = <T>(request: () => Promise<T>, onRetry?: () => void) => Promise<T>;

export interface RetryOptions {
  readonly backoff: BackoffOptions;
  /** Tries in all; then the error is thrown, and the reconciler decides afresh on what is known by then. */
  readonly attempts: number;
}

export const defaultRetry: RetryOptions = { backoff: { baseMs: 100, maxMs: 10_000 }, attempts: 4 };

/**
 * Repeats requests that failed for a passing reason (429, 5xx, a broken connection), with jittered exponential backoff,
 * and not before the server asked for (Retry-After).
 */
export function retrying(
  options: RetryOptions,
  ports: { readonly clock: Clock; readonly random: Random; readonly logger: Logger },
  signal: AbortSignal,
): Retrying {
  return async (request, onRetry) => {
    for (let attempt = 0; ; attempt++) {
      try {
        return await request();
      } catch (error) {
        if (!isApiError(error) || error.reaction !== 'retry' || attempt + 1 >= options.attempts) throw error;
        const delayMs = Math.max(backoffMs(options.backoff, attempt, ports.random), error.retryAfterMs ?? 0);
        ports.logger.warn('API server did not take a write; trying again', {
          attempt: attempt + 1,
          delayMs: Math.round(delayMs),
          status: error.status,
          reason: error.reason,
        });
        await sleep(ports.clock, delayMs, signal);
        if (signal.aborted) throw error;
        onRetry?.();
      }
    }
  };
}
