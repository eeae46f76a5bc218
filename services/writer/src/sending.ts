import type { ClusterWriter } from '@sluice/kubernetes';
import { limitedWriter } from './limited-writer.ts';

/** Lets requests through in their turn: the lowest `order` first. It runs them at once when `signal` aborts. */
export interface RequestLimit {
  run<T>(order: number, request: () => Promise<T>, signal: AbortSignal): Promise<T>;
}

export const unlimited: RequestLimit = { run: (_order, request) => request() };

export interface SendingOptions {
  readonly writer: ClusterWriter;
  readonly limit: RequestLimit;
  readonly order: number;
  /** Why the plan is not to be sent (any more); undefined: it is. Asked only until it has begun. */
  readonly takenBack: () => Error | undefined;
  /** Aborts the wait for its turn: of a plan that has not begun, and of one that has. */
  readonly stop: AbortSignal;
  readonly requests: AbortSignal;
}

/**
 * The requests of one plan. Until the first is let through, the plan can be taken back as if it had never been; from then
 * on it is carried through.
 */
export function sending(options: SendingOptions): ClusterWriter {
  const { writer, limit, order, takenBack, stop, requests } = options;
  let begun = false;
  return limitedWriter(writer, (request) => {
    const run = () => {
      const error = begun ? undefined : takenBack();
      if (error !== undefined) return Promise.reject(error);
      begun = true;
      return request();
    };
    return limit.run(order, run, begun ? requests : stop);
  });
}

/** A newer plan of the same Service and controller is here, and nothing of this one has been sent. */
export class SupersededError extends Error {
  override readonly name = 'SupersededError';
}
