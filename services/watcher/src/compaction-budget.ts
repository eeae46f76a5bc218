const hourMs = 3_600_000;

/**
 * Writes that compaction may cause: in any hour at most `writesPerHour`. It starts empty, so a watcher that takes over does
 * not spend again what the previous one has spent.
 */
export class CompactionBudget {
  readonly #capacity: number;
  readonly #perMs: number;
  #available = 0;
  #refilledAt: number;

  /** `now`: by the monotonic clock. */
  constructor(writesPerHour: number, now: number) {
    // Capacity and refill of any hour together are the budget. Merging a few slices must be affordable at once.
    this.#capacity = Math.max(writesPerHour / 10, Math.min(writesPerHour / 2, 20));
    this.#perMs = (writesPerHour - this.#capacity) / hourMs;
    this.#refilledAt = now;
  }

  available(now: number): number {
    this.#available = Math.min(this.#capacity, this.#available + (now - this.#refilledAt) * this.#perMs);
    this.#refilledAt = now;
    return Math.floor(this.#available);
  }

  spend(writes: number): void {
    this.#available -= writes;
  }
}
