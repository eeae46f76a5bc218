/** How far a level has fallen from its highest within a window of time. What rose before it fell counts for nothing. */
export class Drawdown {
  readonly #windowMs: number;
  /** Levels that may be the highest of a window to come: falling, the oldest first, each with its last moment. */
  readonly #highest: { level: number; until: number }[] = [];
  #level = 0;

  constructor(windowMs: number) {
    this.#windowMs = windowMs;
  }

  /** Moves the level, and returns how far below the highest it is. */
  add(by: number, now: number): number {
    const peaks = this.#highest;
    // Until now it has been where it was.
    const last = peaks.at(-1);
    if (last?.level === this.#level) last.until = now;
    else this.#push(this.#level, now);
    this.#level += by;
    this.#push(this.#level, now);
    while (peaks[0] !== undefined && peaks[0].until < now - this.#windowMs) peaks.shift();
    return (peaks[0]?.level ?? this.#level) - this.#level;
  }

  #push(level: number, until: number): void {
    const peaks = this.#highest;
    for (let last = peaks.at(-1); last !== undefined && last.level <= level; last = peaks.at(-1)) peaks.pop();
    peaks.push({ level, until });
  }
}
