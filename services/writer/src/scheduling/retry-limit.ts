import { type Clock, TokenBucket } from '@sluice/platform';

interface RetryLimitOptions {
  /** Retries per second. */
  readonly perSecond: number;
  readonly clock: Clock;
  /** Called for each retry that has to wait. */
  readonly onDelayed: () => void;
}

/** Upstream: 10 per second with a burst of 100 (B3). */
const burstSeconds = 10;

/**
 * Overall limit of the retries for one cluster, besides the backoff of each Service. A retry that exceeds it is not made by
 * the writer, where it would keep later changes of its Service waiting: the Outcome tells the reconciler when to decide again.
 */
export class RetryLimit {
  readonly #options: RetryLimitOptions;
  readonly #bucket: TokenBucket;

  constructor(options: RetryLimitOptions) {
    const { perSecond, clock } = options;
    this.#options = options;
    this.#bucket = new TokenBucket(perSecond, clock.monotonic(), perSecond * burstSeconds);
  }

  /** Whether a retry may be made now, which then counts. */
  tryAcquire(): boolean {
    return this.#bucket.tryTake(this.#options.clock.monotonic());
  }

  /** Counts a retry and returns how long it has to wait, in milliseconds. */
  reserve(): number {
    const now = this.#options.clock.monotonic();
    const waitMs = this.#bucket.waitMs(now);
    this.#bucket.take(now);
    if (waitMs > 0) this.#options.onDelayed();
    return waitMs;
  }
}
