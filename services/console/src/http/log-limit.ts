import type { Clock } from '@sluice/runtime';

const periodMs = 60_000;

/** Limits what clients can make a process log: at most `max` lines per minute. */
export class LogLimit {
  readonly #clock: Clock;
  readonly #max: number;
  #since = Number.NEGATIVE_INFINITY;
  #logged = 0;

  constructor(clock: Clock, max = 10) {
    this.#clock = clock;
    this.#max = max;
  }

  /** Whether a line may be logged now. */
  take(): boolean {
    const now = this.#clock.now();
    if (now - this.#since >= periodMs) {
      this.#since = now;
      this.#logged = 0;
    }
    return ++this.#logged <= this.#max;
  }
}
