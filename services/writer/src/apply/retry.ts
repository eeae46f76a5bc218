import { isApiError, type Middleware } from '@sluice/kubernetes';
import { type BackoffOptions, backoffMs, type Clock, type Logger, type Random, sleep } from '@sluice/platform';

export interface RetryOptions {
  readonly backoff: BackoffOptions;
  /**
   * Attempts in total. After the last one the error is thrown and the reconciler decides again on its current state.
   */
  readonly attempts: number;
}

export interface RetryPorts {
  readonly clock: Clock;
  readonly random: Random;
  /** Called once a request has failed: most plans need no logger of their own. */
  readonly logger: () => Logger;
  /** Whether the limit of all retries permits one now. Default: no limit. */
  readonly mayRetry?: (() => boolean) | undefined;
  /** Called before each retry. */
  readonly onRetry: () => void;
}

export const defaultRetry: RetryOptions = { backoff: { baseMs: 100, maxMs: 10_000 }, attempts: 4 };

/**
 * Retries requests that failed with a transient error (429, 5xx, connection error) with jittered exponential backoff,
 * waiting at least as long as Retry-After asks.
 */
export function retryTransientErrors(options: RetryOptions & RetryPorts, signal: AbortSignal): Middleware {
  const { attempts, backoff, clock, random, logger, mayRetry, onRetry } = options;
  return async (request, next) => {
    for (let attempt = 0; ; attempt++) {
      try {
        return await next(request);
      } catch (error) {
        // The partition was given up: the next owner applies the plan.
        if (signal.aborted) throw error;
        if (!isApiError(error) || error.kind !== 'retry' || attempt + 1 >= attempts) throw error;
        if (mayRetry?.() === false) throw error;
        // Reachable: write retried
        const delayMs = Math.max(backoffMs(backoff, attempt, random), error.retryAfterMs ?? 0);
        logger().warn('write failed; retrying', {
          attempt: attempt + 1,
          retryIn: `${Math.round(delayMs)}ms`,
          status: error.status,
          reason: error.reason,
        });
        await sleep(clock, delayMs, signal);
        if (signal.aborted) throw error;
        onRetry();
      }
    }
  };
}
