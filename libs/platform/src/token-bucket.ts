/** Tokens that accrue at a constant rate, up to a burst. Times are in milliseconds; `now` is monotonic. */
export class TokenBucket {
  readonly #perSecond: number;
  readonly #burst: number;
  #tokens: number;
  #at: number;

  /** Default burst: that of one second. It starts full unless `tokens` says otherwise. */
  constructor(perSecond: number, now: number, burst = Math.max(1, perSecond), tokens = burst) {
    this.#perSecond = perSecond;
    this.#burst = burst;
    this.#tokens = tokens;
    this.#at = now;
  }

  /** Negative if tokens of the future were taken. */
  available(now: number): number {
    const added = ((now - this.#at) / 1000) * this.#perSecond;
    this.#tokens = Math.min(this.#burst, this.#tokens + added);
    this.#at = now;
    return this.#tokens;
  }

  /** Time until a token is available, or 0. */
  waitMs(now: number): number {
    const tokens = this.available(now);
    return tokens >= 1 ? 0 : Math.ceil(((1 - tokens) / this.#perSecond) * 1000);
  }

  /** Takes tokens, which may be of the future. */
  take(now: number, tokens = 1): void {
    this.#tokens = this.available(now) - tokens;
  }

  /** Takes a token if there is one. */
  tryTake(now: number): boolean {
    if (this.available(now) < 1) return false;
    this.take(now);
    return true;
  }
}
