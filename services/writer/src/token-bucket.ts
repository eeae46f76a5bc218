/** So many a second on average, and a second's worth at once after a pause. */
export class TokenBucket {
  readonly #perSecond: number;
  #tokens: number;
  #at: number;

  /** `now`: of a monotonic clock, in milliseconds. */
  constructor(perSecond: number, now: number) {
    this.#perSecond = perSecond;
    this.#tokens = Math.max(1, perSecond);
    this.#at = now;
  }

  /** How long until one may be taken, in milliseconds; 0: now. */
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
