/** Intervals that a window is divided into. */
const intervals = 60;

/** The sum of samples within a sliding time window, exact to a sixtieth of the window. */
export class RecentSum {
  readonly #intervalMs: number;
  readonly #sums: { readonly interval: number; sum: number }[] = [];
  #total = 0;

  constructor(windowMs: number) {
    this.#intervalMs = windowMs / intervals;
  }

  /** Adds a sample and returns the sum. */
  add(sample: number, now: number): number {
    const interval = Math.floor(now / this.#intervalMs);
    for (
      let first = this.#sums[0];
      first !== undefined && first.interval <= interval - intervals;
      first = this.#sums[0]
    ) {
      this.#total -= first.sum;
      this.#sums.shift();
    }
    if (sample !== 0) {
      const last = this.#sums.at(-1);
      if (last?.interval === interval) last.sum += sample;
      else this.#sums.push({ interval, sum: sample });
      this.#total += sample;
    }
    return this.#total;
  }
}
