import { type Clock, TokenBucket } from '@sluice/platform';

/** Work without a pause, after which the event loop runs, in milliseconds. */
const sliceMs = 8;
/** Work that may be done at once after a rest, in milliseconds. */
const burstMs = 1_000;

/**
 * Bounds the share of the thread that the console uses, so that requests do not starve the services of the process. Work is
 * measured and delayed, and never refused.
 */
export class ThreadBudget {
  readonly #clock: Clock;
  readonly #share: number;
  readonly #waiting: (() => void)[] = [];
  /** Work that may be done, in milliseconds. */
  readonly #credit: TokenBucket;
  /** Work since the event loop last ran. */
  #uninterrupted = 0;
  #isScheduled = false;

  /** `share`: of the thread, more than 0 and up to 1. */
  constructor(clock: Clock, share: number) {
    this.#clock = clock;
    this.#share = share;
    this.#credit = new TokenBucket(1_000 * share, clock.monotonic(), burstMs);
  }

  /** Runs `work` after earlier work, immediately if the budget permits. Of asynchronous work, counts the time until it returns. */
  async run<T>(work: () => T): Promise<T> {
    if (this.#waiting.length > 0 || this.#uninterrupted >= sliceMs || this.#available() <= 0) await this.#turn();
    const startedAt = this.#clock.monotonic();
    try {
      return work();
    } finally {
      this.#spend(startedAt);
    }
  }

  /** Iterates within the budget, and lets the event loop run regularly. Counts what the caller does with each item. */
  async *iterate<T>(items: Iterable<T>): AsyncGenerator<T> {
    let resumedAt = this.#clock.monotonic();
    try {
      for (const item of items) {
        yield item;
        if (this.#clock.monotonic() - resumedAt < sliceMs) continue;
        this.#spend(resumedAt);
        await this.#turn();
        resumedAt = this.#clock.monotonic();
      }
    } finally {
      this.#spend(resumedAt);
    }
  }

  #spend(since: number): void {
    const spent = this.#clock.monotonic() - since;
    this.#credit.take(since, spent);
    this.#uninterrupted += spent;
    if (this.#uninterrupted >= sliceMs) this.#schedule(0);
  }

  #turn(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.#schedule(0);
    });
  }

  #schedule(delayMs: number): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#clock.schedule(delayMs, () => {
      this.#isScheduled = false;
      this.#uninterrupted = 0;
      this.#resumeNext();
    });
  }

  /** Resumes one waiting caller if the budget permits. The others follow after the event loop has run. */
  #resumeNext(): void {
    if (this.#waiting.length === 0) return;
    const credit = this.#available();
    if (credit > 0) this.#waiting.shift()?.();
    if (this.#waiting.length > 0) this.#schedule(credit > 0 ? 0 : 1 - credit / this.#share);
  }

  #available(): number {
    return this.#credit.available(this.#clock.monotonic());
  }
}
