import type { Clock } from '@sluice/runtime';

/** In milliseconds. */
const recentMs = 30_000;

/**
 * Leases that seemed about to expire and did not. Shared by all clusters of a process: when a fleet is overloaded, heartbeats are
 * late, and a process that listed all clusters of another one would make it worse.
 */
export class FalseAlarms {
  readonly #clock: Clock;
  #lastAt = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get isRecent(): boolean {
    return this.#clock.monotonic() < this.#lastAt + recentMs;
  }

  report(): void {
    this.#lastAt = this.#clock.monotonic();
  }
}
