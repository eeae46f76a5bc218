import type { Cancel, Clock } from './clock.ts';

interface Timer {
  readonly at: number;
  readonly order: number;
  readonly callback: () => void;
}

/** A clock that only moves when advanced, for tests and replays. */
export class VirtualClock implements Clock {
  #now: number;
  #order = 0;
  readonly #timers = new Set<Timer>();

  constructor(startMs = 0) {
    this.#now = startMs;
  }

  now(): number {
    return this.#now;
  }

  monotonic(): number {
    return this.#now;
  }

  schedule(delayMs: number, callback: () => void): Cancel {
    const timer: Timer = { at: this.#now + Math.max(0, delayMs), order: this.#order++, callback };
    this.#timers.add(timer);
    return () => {
      this.#timers.delete(timer);
    };
  }

  /** Time of the next timer, or undefined if there is none. */
  nextAt(): number | undefined {
    return this.#next()?.at;
  }

  /** Advances to the next timer and runs it. If none is due by `untilMs`, advances to `untilMs` and returns false. */
  step(untilMs = Number.POSITIVE_INFINITY): boolean {
    const next = this.#next();
    if (next === undefined || next.at > untilMs) {
      if (Number.isFinite(untilMs)) this.#now = Math.max(this.#now, untilMs);
      return false;
    }
    this.#timers.delete(next);
    this.#now = Math.max(this.#now, next.at);
    next.callback();
    return true;
  }

  /** Advances without running the timers in between; they are due immediately afterwards. */
  skipTo(ms: number): void {
    this.#now = Math.max(this.#now, ms);
  }

  #next(): Timer | undefined {
    let first: Timer | undefined;
    for (const timer of this.#timers) {
      if (first === undefined || timer.at < first.at || (timer.at === first.at && timer.order < first.order))
        first = timer;
    }
    return first;
  }
}
