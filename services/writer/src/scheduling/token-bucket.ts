/** Token bucket: `perSecond` tokens per second, with a burst of one second. */
export class TokenBucket {
  readonly #perSecond: number;
  #tokens: number;
  #at: number;

  /** `now` is monotonic, in milliseconds. */
  constructor(perSecond: number, now: number) {
    this.#perSecond = perSecond;
    this.#tokens = Math.max(1, perSecond);
    this.#at = now;
  }

  /** Milliseconds until a token is available, or 0. */
  waitMs(now: number): number {
    this.#refill(now);
    return this.#tokens >= 1 ? 0 : Math.ceil(((1 - this.#tokens) / this.#perSecond) * 1000);
  }

  take(now: number): void {
    this.#refill(now);
    this.#tokens -= 1;
  }

  #refill(now: number): void {
    const added = ((now - this.#at) / 1000) * this.#perSecond;
    this.#tokens = Math.min(Math.max(1, this.#perSecond), this.#tokens + added);
    this.#at = now;
  }
}
