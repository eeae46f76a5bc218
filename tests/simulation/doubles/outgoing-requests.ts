import { ApiError, type Middleware } from '@sluice/kubernetes';
import { type Clock, type Random, randomInteger, sleep } from '@sluice/platform';

/** Requests wait in their process for a connection or a credential. Their bytes leave after the last check, in the same turn. */
export class OutgoingRequests {
  readonly #clock: Clock;
  readonly #random: Random;
  #longestMs = 0;
  #onWait: (() => void) | undefined;

  /** @param clock that of the process */
  constructor(clock: Clock, random: Random) {
    this.#clock = clock;
    this.#random = random;
  }

  /** How long a request waits at most, in milliseconds. `onWait` is called once, when the first one begins to wait. */
  wait(longestMs: number, onWait?: () => void): void {
    this.#longestMs = longestMs;
    this.#onWait = onWait;
  }

  readonly send: Middleware = async (request, next) => {
    if (this.#longestMs > 0) {
      this.#onWait?.();
      this.#onWait = undefined;
      await sleep(this.#clock, randomInteger(this.#random, 0, this.#longestMs), request.signal);
    }
    if (request.signal.aborted) throw new ApiError('aborted', { kind: 'retry', status: 0, reason: 'Aborted' });
    request.beforeSend?.();
    return next(request);
  };
}
