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
  #rate = Number.POSITIVE_INFINITY;

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** A reader has requested a resync of the partition. */
  resyncRequested(): void {
    const now = this.#clock.monotonic();
    if (now - this.#resyncedAt > windowMs) this.#rate = Number.POSITIVE_INFINITY;
    else this.#rate = Math.max(lowestRate, Math.min(firstRate, this.#rate / 2));
    this.#resyncedAt = now;
  }

  /** In bytes per second; infinite without a limit. */
  get bytesPerSecond(): number {
    if (this.#clock.monotonic() - this.#resyncedAt > windowMs) this.#rate = Number.POSITIVE_INFINITY;
    return this.#rate;
  }
}
