import type { Clock } from '@sluice/platform';

/** Rate after the second resync within the window; each further one halves it. */
const firstRate = 8 * 1024 * 1024;
const lowestRate = 128 * 1024;
/** A resync that follows another within this time did not reach its reader. */
const windowMs = 30 * 60_000;

/**
 * Limits the rate at which a partition is published if its resyncs do not reach the reader: a log that is smaller than a
 * resync drops records before a slow reader has them, and the reader requests the next resync. Without repeated resyncs
 * there is no limit.
 */
export class ResyncPace {
  readonly #clock: Pick<Clock, 'monotonic'>;
  #resyncedAt = Number.NEGATIVE_INFINITY;
  #rate: number | undefined;

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** A reader has requested a resync of the partition. */
  resyncRequested(): void {
    const now = this.#clock.monotonic();
    const isFirst = now - this.#resyncedAt > windowMs;
    this.#rate = isFirst ? undefined : Math.max(lowestRate, this.#rate === undefined ? firstRate : this.#rate / 2);
    this.#resyncedAt = now;
  }

  /** Undefined without a limit. */
  get bytesPerSecond(): number | undefined {
    return this.#clock.monotonic() - this.#resyncedAt > windowMs ? undefined : this.#rate;
  }
}
