import { isApiError } from '@sluice/kubernetes';
import { type BackoffOptions, backoffMs, type Clock, type Logger, type Random, sleep } from '@sluice/runtime';

/** Runs a request and retries it if that makes sense. `onRetry` is called before each retry. */
export type Retry = <T>(request: () => Promise<T>, onRetry?: () => void) => Promise<T>;

export interface RetryOptions {
  readonly backoff: BackoffOptions;
  /**
   * Attempts in total. After the last one the error is thrown and the reconciler decides again on its current state.
   */
  readonly attempts: number;
}

export const defaultRetry: RetryOptions = { backoff: { baseMs: 100, maxMs: 10_000 }, attempts: 4 };

/**
 * Retries requests that failed with a transient error (429, 5xx, connection error) with jittered exponential backoff,
 * waiting at least as long as Retry-After asks.
 */
export function retryTransientErrors(
  options: RetryOptions,
  ports: { readonly clock: Clock; readonly random: Random; readonly logger: Logger },
  signal: AbortSignal,
): Retry {
  return async (request, onRetry) => {
    for (let attempt = 0; ; attempt++) {
      try {
        return await request();
      } catch (error) {
        if (!isApiError(error) || error.reaction !== 'retry' || attempt + 1 >= options.attempts) throw error;
        const delayMs = Math.max(backoffMs(options.backoff, attempt, ports.random), error.retryAfterMs ?? 0);
        ports.logger.warn('write failed; retrying', {
          attempt: attempt + 1,
          retryIn: `${Math.round(delayMs)}ms`,
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
