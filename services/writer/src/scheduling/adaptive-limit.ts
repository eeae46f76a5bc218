import { isApiError } from '@sluice/kubernetes';
import { type Cancel, type Clock, TokenBucket } from '@sluice/platform';
import { type FairShare, PriorityQueue } from './request-limit.ts';
import { Saturation } from './saturation.ts';

interface AdaptiveLimitOptions {
  /** Maximum number of concurrent requests. */
  readonly max: number;
  /** Initial limit. Default: an eighth of `max`, at least 8 (but at most `max`). */
  readonly initial?: number;
  /** Maximum requests per second, with a burst of one second. Default: unlimited. */
  readonly perSecond?: number;
  /** Bounds the requests of all clusters of the process. Default: this limit alone. */
  readonly fairShare?: FairShare | undefined;
  readonly clock: Clock;
}

/** Low, because the first requests find few open connections, and opening one costs more than a write. */
const initialLimit = { share: 1 / 8, min: 8 };
/** Upper bound for Retry-After. After it, one request probes the server. */
const maxRetryAfterMs = 30_000;
/** A request that gets no response within this time indicates that the server is unresponsive. */
const unresponsiveMs = 5_000;
/** By which the limit shrinks on overload. */
const overloadFactor = 0.5;

/** A request that waits for a slot. */
interface QueuedRequest {
  start(): void;
  fail(error: unknown): void;
}

/**
 * Adaptive concurrency limit for one API server (additive increase, multiplicative decrease). Overload (429, 5xx, no
 * response) halves the limit, and a full round of responses raises it by one, however long they take: the server may be slow
 * because of other clients, and yielding ever more would starve this one. Retry-After delays all requests, because the others would be rejected too. If the server is unresponsive, waiting
 * requests fail with it: one timeout after another would take hours and block the partitions that also hold other
 * clusters' plans.
 */
export class AdaptiveLimit {
  readonly max: number;
  readonly #clock: Clock;
  readonly #queue = new PriorityQueue<QueuedRequest>();
  readonly #saturation = new Saturation();
  readonly #rateLimit: TokenBucket | undefined;
  readonly #fairShare: FairShare | undefined;
  #limit: number;
  #inFlight = 0;
  /** Requests in flight or waiting. */
  #requests = 0;
  #leave: () => void = () => {};
  /** Sequence number of the last request started, and of the last one started when the limit was lowered. */
  #lastStarted = 0;
  #lastLowered = 0;
  /** Successes since the limit last changed. */
  #successes = 0;
  /** Maximum concurrency since the limit last changed. */
  #peak = 0;
  #pausedUntil = Number.NEGATIVE_INFINITY;
  #wake: Cancel | undefined;

  constructor({ max, initial, perSecond, fairShare, clock }: AdaptiveLimitOptions) {
    this.max = max;
    this.#limit = Math.min(max, initial ?? Math.max(initialLimit.min, max * initialLimit.share));
    this.#clock = clock;
    this.#fairShare = fairShare;
    this.#rateLimit = perSecond === undefined ? undefined : new TokenBucket(perSecond, clock.monotonic());
  }

  /** Current limit. */
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
   * By how much requests lately take longer than with spare capacity, their wait for a slot included, in milliseconds; 0 if
   * they do not.
   */
  get excessMs(): number {
    return this.#saturation.excessMs(this.#clock.monotonic());
  }

  /**
   * Runs a request when a slot is free: lowest `priority` first, then in order of arrival. If `signal` aborts while it
   * waits, the request runs at once, so that it can fail with its own reason.
   */
  async run<T>(priority: number, request: () => Promise<T>, signal: AbortSignal): Promise<T> {
    if (this.#requests++ === 0) this.#leave = this.#fairShare?.enter() ?? this.#leave;
    try {
      return await this.#run(priority, request, signal);
    } finally {
      if (--this.#requests === 0) this.#leave();
    }
  }

  async #run<T>(priority: number, request: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const arrivedAt = this.#clock.monotonic();
    if (!(await this.#acquire(priority, signal))) return request();
    this.#peak = Math.max(this.#peak, this.#inFlight);
    const number = ++this.#lastStarted;
    const startedAt = this.#clock.monotonic();
    try {
      const response = await request();
      this.#responded(startedAt, arrivedAt);
      return response;
    } catch (error) {
      if (isOverload(error)) this.#overloaded(number, error.retryAfterMs ?? 0);
      if (isUnresponsive(error) && this.#clock.monotonic() - startedAt >= unresponsiveMs) this.#failWaiting(error);
      if (isResponse(error)) this.#responded(startedAt, arrivedAt);
      throw error;
    } finally {
      this.#inFlight--;
      this.#startNext();
    }
  }

  /** Resolves to false if `signal` aborts first. */
  #acquire(priority: number, signal: AbortSignal): Promise<boolean> | boolean {
    if (this.#queue.size === 0 && this.#mayStart()) {
      this.#start();
      return true;
    }
    return new Promise((resolve, reject) => {
      const start = () => {
        signal.removeEventListener('abort', onAbort);
        this.#start();
        resolve(true);
      };
      const fail = (error: unknown) => {
        signal.removeEventListener('abort', onAbort);
        reject(error);
      };
      const onAbort = () => {
        remove();
        resolve(false);
      };
      const remove = this.#queue.add(priority, { start, fail });
      if (signal.aborted) return onAbort();
      signal.addEventListener('abort', onAbort, { once: true });
      this.#startNext();
    });
  }

  #responded(startedAt: number, arrivedAt: number): void {
    const now = this.#clock.monotonic();
    this.#saturation.add(now - startedAt, now - arrivedAt, now);
    if (++this.#successes < this.current) return;
    // A limit that was not reached may be high enough.
    const reached = this.#peak >= this.current;
    this.#successes = 0;
    this.#peak = this.#inFlight - 1;
    if (!reached) return;
    this.#limit = Math.min(this.max, this.#limit + 1);
  }

  #overloaded(number: number, retryAfterMs: number): void {
    this.#lower(number);
    if (retryAfterMs === 0) return;
    this.#pausedUntil = Math.max(this.#pausedUntil, this.#clock.monotonic() + Math.min(retryAfterMs, maxRetryAfterMs));
  }

  #failWaiting(error: unknown): void {
    for (let next = this.#queue.take(); next !== undefined; next = this.#queue.take()) next.fail(error);
  }

  /** Lowers the limit once for all requests in flight together, because they report the same event. */
  #lower(number: number): void {
    if (number <= this.#lastLowered) return;
    this.#lastLowered = this.#lastStarted;
    this.#successes = 0;
    this.#limit = Math.max(1, this.#limit * overloadFactor);
  }

  #start(): void {
    this.#inFlight++;
    this.#rateLimit?.take(this.#clock.monotonic());
  }

  #mayStart(): boolean {
    const max = Math.min(this.current, this.#fairShare?.current ?? this.current);
    return this.#inFlight < max && this.#pauseMs() <= 0;
  }

  #pauseMs(): number {
    const now = this.#clock.monotonic();
    return Math.max(this.#pausedUntil - now, this.#rateLimit?.waitMs(now) ?? 0);
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

/** The server is overloaded or unreachable. A request aborted by its caller proves neither. */
function isOverload(error: unknown): error is { readonly retryAfterMs?: number } {
  return isApiError(error) && error.kind === 'retry' && error.reason !== 'Aborted';
}

/** The server responded to the request itself. */
function isResponse(error: unknown): boolean {
  return isApiError(error) && error.status > 0 && !isOverload(error);
}

function isUnresponsive(error: unknown): boolean {
  return isOverload(error) && isApiError(error) && error.status === 0;
}
