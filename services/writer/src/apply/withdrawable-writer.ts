import { type ClusterWriter, isApiError } from '@sluice/kubernetes';
import { limitedWriter } from './limited-writer.ts';

/**
 * Decides when a request runs: the lowest `priority` value first. Runs a waiting request at once when `signal` aborts.
 */
export interface RequestLimit {
  run<T>(priority: number, request: () => Promise<T>, signal: AbortSignal): Promise<T>;
}

export const unlimited: RequestLimit = { run: (_priority, request) => request() };

export interface WithdrawableWriterOptions {
  readonly writer: ClusterWriter;
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
 * no request was sent, or all were rejected with 429. From then on it is completed.
 */
export function withdrawableWriter(options: WithdrawableWriterOptions): ClusterWriter {
  const { writer, limit, priority, withdrawn, stop, requestSignal } = options;
  let inFlight = 0;
  let isStored = false;
  const hasStarted = () => isStored || inFlight > 0;
  return limitedWriter(writer, <T>(request: () => Promise<T>): Promise<T> => {
    const run = async (): Promise<T> => {
      const error = hasStarted() ? undefined : withdrawn();
      if (error !== undefined) throw error;
      inFlight++;
      try {
        const answer = await request();
        isStored = true;
        return answer;
      } catch (error) {
        // After any other failure the write may or may not have been stored.
        if (!isApiError(error) || error.status !== 429) isStored = true;
        throw error;
      } finally {
        inFlight--;
      }
    };
    return limit.run(priority, run, hasStarted() ? requestSignal : stop);
  });
}

/** A newer plan for the same Service and controller has arrived, and nothing of this one can have been stored. */
export class SupersededError extends Error {
  override readonly name = 'SupersededError';
}
