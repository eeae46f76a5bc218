import { type ClusterWriter, isApiError } from '@sluice/kubernetes';
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
 * The requests of one plan. As long as nothing of it can have been stored, because nothing was let through yet or all was
 * turned away (429), the plan can be taken back as if it had never been; from then on it is carried through.
 */
export function sending(options: SendingOptions): ClusterWriter {
  const { writer, limit, order, takenBack, stop, requests } = options;
  let underWay = 0;
  let isStored = false;
  const hasBegun = () => isStored || underWay > 0;
  return limitedWriter(writer, <T>(request: () => Promise<T>): Promise<T> => {
    const run = async (): Promise<T> => {
      const error = hasBegun() ? undefined : takenBack();
      if (error !== undefined) throw error;
      underWay++;
      try {
        const answer = await request();
        isStored = true;
        return answer;
      } catch (error) {
        // Of other failures nobody knows for sure whether the request was carried out.
        if (!isApiError(error) || error.status !== 429) isStored = true;
        throw error;
      } finally {
        underWay--;
      }
    };
    return limit.run(order, run, hasBegun() ? requests : stop);
  });
}

/** A newer plan of the same Service and controller is here, and nothing of this one can have been stored. */
export class SupersededError extends Error {
  override readonly name = 'SupersededError';
}
