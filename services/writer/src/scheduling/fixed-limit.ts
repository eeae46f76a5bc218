import type { RequestLimit } from '../apply/schedule-requests.ts';
import { PriorityQueue } from './priority-queue.ts';

/**
 * At most `max` concurrent requests: lowest `priority` first, then in order of arrival. If `signal` aborts while a request
 * waits, it runs at once, so that it can fail with its own reason.
 */
export class FixedLimit implements RequestLimit {
  readonly #max: number;
  readonly #queue = new PriorityQueue<() => void>();
  #inFlight = 0;

  constructor(max: number) {
    this.#max = max;
  }

  async run<T>(priority: number, request: () => Promise<T>, signal: AbortSignal): Promise<T> {
    if (this.#inFlight < this.#max) this.#inFlight++;
    else if (!(await this.#wait(priority, signal))) return request();
    try {
      return await request();
    } finally {
      const next = this.#queue.take();
      // The next request inherits the slot, so that no other one takes it first.
      if (next === undefined) this.#inFlight--;
      else next();
    }
  }

  /** Resolves to false if `signal` aborts first. */
  #wait(priority: number, signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      if (signal.aborted) return resolve(false);
      const onAbort = () => {
        remove();
        resolve(false);
      };
      const remove = this.#queue.add(priority, () => {
        signal.removeEventListener('abort', onAbort);
        resolve(true);
      });
      signal.addEventListener('abort', onAbort, { once: true });
    });
  }
}

/** Token bucket: `perSecond` tokens per second. Default burst: that of one second. */
export class TokenBucket {
  readonly #perSecond: number;
  readonly #burst: number;
  #tokens: number;
  #at: number;

  /** `now` is monotonic, in milliseconds. */
  constructor(perSecond: number, now: number, burst = Math.max(1, perSecond)) {
    this.#perSecond = perSecond;
    this.#burst = burst;
    this.#tokens = burst;
    this.#at = now;
  }

  /** Milliseconds until a token is available, or 0. */
  waitMs(now: number): number {
    this.#refill(now);
    return this.#tokens >= 1 ? 0 : Math.ceil(((1 - this.#tokens) / this.#perSecond) * 1000);
  }

  /** Takes a token, which may be one of the future: see `waitMs`. */
  take(now: number): void {
    this.#refill(now);
    this.#tokens -= 1;
  }

  #refill(now: number): void {
    const added = ((now - this.#at) / 1000) * this.#perSecond;
    this.#tokens = Math.min(this.#burst, this.#tokens + added);
    this.#at = now;
  }
}
