import { isApiError } from '@sluice/kubernetes';
import type { Cancel, Clock } from '@sluice/runtime';
import { LatencyBaseline } from './latency-baseline.ts';
import { OrderedQueue } from './ordered-queue.ts';
import { TokenBucket } from './token-bucket.ts';

export interface AdaptiveLimitOptions {
  /** Requests under way at once, at most. */
  readonly max: number;
  /** Where it begins. Default: an eighth of `max`, but 8 if it may. */
  readonly initial?: number;
  /** Requests let through in a second, at most; a second's worth at once after a pause. Default: no matter how many. */
  readonly perSecond?: number;
  readonly clock: Clock;
}

/** Where the limit begins: the first writes of a start find few connections open, and to open one costs more than a write. */
const beginning = { share: 1 / 8, least: 8 };
/** After Retry-After, however long that is, one request finds out in this time how things stand, in milliseconds. */
const maxPauseMs = 30_000;
/** A request that ends without an answer after this time tells of a server that does not answer anybody, in milliseconds. */
const silentMs = 5_000;
/** What is left of the limit after a refusal for overload, and after answers that took too long. */
const afterOverload = 0.5;
const afterDelay = 0.9;
/**
 * Slow answers alone lower the limit to this share of `max` and no further, and below it they do not hold it down: the server may be slow for what others ask of
 * it, and whoever is content with ever less would wait for all of them. To go below is for the server to say.
 */
const leastByDelay = 0.5;

/** A request that waits for its turn. */
interface Waiting {
  start(): void;
  fail(error: unknown): void;
}

/**
 * Lets requests to one API server through: as many at once as it takes well (additive increase, multiplicative
 * decrease). A refusal for overload (429, 5xx, no answer) halves the limit, answers that take much longer than they did
 * lower it, a full round of good ones raises it by one. Retry-After holds back all requests, not only the one that was
 * told: each of the others would be refused just the same. If the server is silent, what waits fails as well, and may
 * come again: one after the other would wait for hours, and with it the lanes in which plans for other clusters are.
 */
export class AdaptiveLimit {
  readonly max: number;
  readonly #clock: Clock;
  readonly #queue = new OrderedQueue<Waiting>();
  readonly #latency = new LatencyBaseline();
  readonly #pace: TokenBucket | undefined;
  #limit: number;
  #inFlight = 0;
  /** Number of the last request that was let through, and of the one at which the limit was last lowered. */
  #started = 0;
  #loweredAt = 0;
  /** Good answers since the limit was last changed. */
  #good = 0;
  /** Most requests under way at once since then. */
  #peak = 0;
  #pausedUntil = Number.NEGATIVE_INFINITY;
  #wake: Cancel | undefined;

  constructor({ max, initial, perSecond, clock }: AdaptiveLimitOptions) {
    this.max = max;
    this.#limit = Math.min(max, initial ?? Math.max(beginning.least, max * beginning.share));
    this.#clock = clock;
    this.#pace = perSecond === undefined ? undefined : new TokenBucket(perSecond, clock.monotonic());
  }

  /** Requests that may be under way at once, now. */
  get current(): number {
    return Math.max(1, Math.floor(this.#limit));
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  get waiting(): number {
    return this.#queue.size;
  }

  /**
   * Runs a request in its turn: the lowest `order` first, of equal ones the first that came. Should `signal` abort while
   * it waits, it is run at once, to say for itself that it is not wanted any more.
   */
  async run<T>(order: number, request: () => Promise<T>, signal: AbortSignal): Promise<T> {
    if (!(await this.#turn(order, signal))) return request();
    this.#peak = Math.max(this.#peak, this.#inFlight);
    const number = ++this.#started;
    const startedAt = this.#clock.monotonic();
    try {
      const answer = await request();
      this.#answered(number, this.#clock.monotonic() - startedAt);
      return answer;
    } catch (error) {
      if (isOverload(error)) this.#refused(number, error.retryAfterMs ?? 0);
      if (isSilence(error) && this.#clock.monotonic() - startedAt >= silentMs) this.#failWaiting(error);
      if (isAnswer(error)) this.#answered(number, this.#clock.monotonic() - startedAt);
      throw error;
    } finally {
      this.#inFlight--;
      this.#startNext();
    }
  }

  /** Resolves to false if `signal` aborts first. */
  #turn(order: number, signal: AbortSignal): Promise<boolean> | boolean {
    if (this.#queue.size === 0 && this.#mayStart()) {
      this.#begin();
      return true;
    }
    return new Promise((resolve, reject) => {
      const start = () => {
        signal.removeEventListener('abort', giveUp);
        this.#begin();
        resolve(true);
      };
      const fail = (error: unknown) => {
        signal.removeEventListener('abort', giveUp);
        reject(error);
      };
      const giveUp = () => {
        remove();
        resolve(false);
      };
      const remove = this.#queue.add(order, { start, fail });
      if (signal.aborted) return giveUp();
      signal.addEventListener('abort', giveUp, { once: true });
      this.#startNext();
    });
  }

  #answered(number: number, latencyMs: number): void {
    this.#latency.add(latencyMs);
    const least = this.max * leastByDelay;
    if (this.#latency.isRaised && this.#limit >= least) return this.#lower(number, afterDelay, least);
    if (++this.#good < this.current) return;
    // Of a limit that was not reached nobody knows whether it is too low.
    const reached = this.#peak >= this.current;
    this.#good = 0;
    this.#peak = this.#inFlight - 1;
    if (!reached) return;
    this.#limit = Math.min(this.max, this.#limit + 1);
  }

  #refused(number: number, retryAfterMs: number): void {
    this.#lower(number, afterOverload);
    if (retryAfterMs === 0) return;
    this.#pausedUntil = Math.max(this.#pausedUntil, this.#clock.monotonic() + Math.min(retryAfterMs, maxPauseMs));
  }

  #failWaiting(error: unknown): void {
    for (let next = this.#queue.take(); next !== undefined; next = this.#queue.take()) next.fail(error);
  }

  /** Once for all requests that were under way together: what they tell is one piece of news. */
  #lower(number: number, factor: number, least = 1): void {
    if (number <= this.#loweredAt) return;
    this.#loweredAt = this.#started;
    this.#good = 0;
    this.#limit = Math.max(1, least, this.#limit * factor);
    this.#latency.restart();
  }

  #begin(): void {
    this.#inFlight++;
    this.#pace?.take(this.#clock.monotonic());
  }

  #mayStart(): boolean {
    return this.#inFlight < this.current && this.#pauseMs() <= 0;
  }

  #pauseMs(): number {
    const now = this.#clock.monotonic();
    return Math.max(this.#pausedUntil - now, this.#pace?.waitMs(now) ?? 0);
  }

  #startNext(): void {
    while (this.#mayStart()) {
      const next = this.#queue.take();
      if (next === undefined) return;
      next.start();
    }
    const pauseMs = this.#pauseMs();
    if (pauseMs <= 0 || this.#queue.size === 0) return;
    this.#wake ??= this.#clock.schedule(pauseMs, () => {
      this.#wake = undefined;
      this.#startNext();
    });
  }
}

/** The server has too much to do, or cannot be reached. A request that its caller gave up says nothing of that. */
function isOverload(error: unknown): error is { readonly retryAfterMs?: number } {
  return isApiError(error) && error.reaction === 'retry' && error.reason !== 'Aborted';
}

/** What the server said of this request alone. */
function isAnswer(error: unknown): boolean {
  return isApiError(error) && error.status > 0 && !isOverload(error);
}

function isSilence(error: unknown): boolean {
  return isOverload(error) && isApiError(error) && error.status === 0;
}
