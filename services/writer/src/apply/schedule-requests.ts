import { isApiError, type Middleware } from '@sluice/kubernetes';

/**
 * Decides when a request runs: the lowest `priority` value first. Runs a waiting request at once when `signal` aborts.
 */
export interface RequestLimit {
  /** By how much requests take longer than with spare capacity, in milliseconds. Default: unknown. */
  readonly excessMs?: number;
  run<T>(priority: number, request: () => Promise<T>, signal: AbortSignal): Promise<T>;
}

export const unlimited: RequestLimit = { run: (_priority, request) => request() };

export interface ScheduleOptions {
  readonly limit: RequestLimit;
  readonly priority: number;
  /** Returns an error if the plan must not be sent. Called only until the plan has started. */
  readonly withdrawn: () => Error | undefined;
  /** Aborts the wait of a plan that has not started. A started plan waits until `requestSignal` aborts. */
  readonly stop: AbortSignal;
  readonly requestSignal: AbortSignal;
}

/**
 * Sends the requests of one plan through the limit. A plan can be withdrawn while nothing of it can have been stored:
 * no write was sent, or all were rejected with 429. From then on it is completed.
 */
export function scheduleRequests({ limit, priority, withdrawn, stop, requestSignal }: ScheduleOptions): Middleware {
  let writesInFlight = 0;
  let isStored = false;
  const hasStarted = () => isStored || writesInFlight > 0;
  return (request, next) => {
    const send = async () => {
      const error = hasStarted() ? undefined : withdrawn();
      if (error !== undefined) throw error;
      if (request.verb === 'get') return next(request);
      writesInFlight++;
      try {
        const response = await next(request);
        isStored = true;
        return response;
      } catch (error) {
        // After any other failure the write may or may not have been stored.
        if (!isApiError(error) || error.status !== 429) isStored = true;
        throw error;
      } finally {
        writesInFlight--;
      }
    };
    return limit.run(priority, send, hasStarted() ? requestSignal : stop);
  };
}

/** A newer plan for the same Service and controller has arrived, and nothing of this one can have been stored. */
export class SupersededError extends Error {
  override readonly name = 'SupersededError';
}
