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
