export interface Percentiles {
  readonly count: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/** Kept for the percentiles; of a longer run, the latest. */
const kept = 10_000;

/** Times in milliseconds, and how they are spread. */
export class Samples {
  readonly #latest: number[] = [];
  #count = 0;
  #max = 0;

  add(ms: number): void {
    this.#latest[this.#count++ % kept] = ms;
    this.#max = Math.max(this.#max, ms);
  }

  /** By nearest rank. Null: there are none. */
  get percentiles(): Percentiles | null {
    const sorted = this.#latest.toSorted((a, b) => a - b);
    const at = (q: number) => tenths(sorted[Math.ceil(q * sorted.length) - 1] ?? 0);
    return this.#count === 0 ? null : { count: this.#count, p50: at(0.5), p99: at(0.99), max: tenths(this.#max) };
  }
}

const tenths = (ms: number): number => Math.round(ms * 10) / 10;
