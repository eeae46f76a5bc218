/**
 * How far a level has dropped below its peak within a sliding time window. A rise before the peak counts for nothing.
 */
export class DropFromPeak {
  readonly #windowMs: number;
  /**
   * Candidates for the peak of the current or a later window: descending levels, each with the last time it was held.
   */
  readonly #peaks: { level: number; until: number }[] = [];
  #level = 0;

  constructor(windowMs: number) {
    this.#windowMs = windowMs;
  }

  /** Changes the level by `by` and returns its distance from the peak. */
  add(by: number, now: number): number {
    const peaks = this.#peaks;
    // The level has been unchanged until now.
    const last = peaks.at(-1);
    if (last?.level === this.#level) last.until = now;
    else this.#push(this.#level, now);
    this.#level += by;
    this.#push(this.#level, now);
    while (peaks[0] !== undefined && peaks[0].until < now - this.#windowMs) peaks.shift();
    return (peaks[0]?.level ?? this.#level) - this.#level;
  }

  #push(level: number, until: number): void {
    const peaks = this.#peaks;
    for (let last = peaks.at(-1); last !== undefined && last.level <= level; last = peaks.at(-1)) peaks.pop();
    peaks.push({ level, until });
  }
}
