import type { Cancel, Clock } from './clock.ts';

interface Timer {
  readonly at: number;
  readonly order: number;
  readonly callback: () => void;
}

/** A clock that stands still until it is told to move: for tests and for the replay of scenarios. */
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

  /** When the next timer is due, or undefined if none waits. */
  nextAt(): number | undefined {
    return this.#next()?.at;
  }

  /** Moves to the next due timer and runs it. False if none is due by `untilMs`, which the clock then shows. */
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

  /** Moves on without running what falls due meanwhile; that is due at once then. */
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
