/** Port of time: libraries and services use it instead of the system clock and timers. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Milliseconds from an arbitrary origin; never decreases. */
  monotonic(): number;
  /** Runs `callback` once after `delayMs` unless cancelled; never synchronously. */
  schedule(delayMs: number, callback: () => void): Cancel;
}

/** Idempotent; has no effect once the callback has run. */
export type Cancel = () => void;

/** Resolves after `delayMs` or when `signal` aborts; never rejects. */
export function sleep(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const done = () => {
      signal?.removeEventListener('abort', abort);
      resolve();
    };
    const cancel = clock.schedule(delayMs, done);
    const abort = () => {
      cancel();
      done();
    };
    signal?.addEventListener('abort', abort, { once: true });
  });
}

/** A tick that is nearer than this part of the interval counts as the one at which a loop has just run. */
const sameTickPart = 1 / 10;

/**
 * Time to sleep in a loop that runs at each tick, in milliseconds: a tenth of the interval longer than the interval at most. A timer may run a
 * little before its tick, and must not run again at it. A loop that something else has woken runs again at the next tick.
 */
export function untilNextTick(clock: Clock, intervalMs: number): number {
  const leftMs = untilTick(clock, intervalMs);
  return leftMs < intervalMs * sameTickPart ? leftMs + intervalMs : leftMs;
}

/**
 * Milliseconds until `offsetMs` after the next multiple of `intervalMs`, the same moment for all callers in this process, so that
 * their timers share a wake-up. Processes differ, because the clock has an arbitrary origin. 0 for an interval of 0.
 */
export function untilTick(clock: Clock, intervalMs: number, offsetMs = 0): number {
  if (intervalMs === 0) return 0;
  const sinceTickMs = (clock.monotonic() - offsetMs) % intervalMs;
  return (sinceTickMs < 0 ? 0 : intervalMs) - sinceTickMs;
}

/** A moment on both clocks. */
export interface Instant {
  readonly monotonic: number;
  readonly wallOffset: number;
}

/** Wall clock minus monotonic clock. */
const wallOffset = (clock: Clock): number => clock.now() - clock.monotonic();

export const instant = (clock: Clock): Instant => ({ monotonic: clock.monotonic(), wallOffset: wallOffset(clock) });

/**
 * How long the machine was suspended since its clocks had this offset, in milliseconds. The monotonic clock stops during a
 * suspension, and the wall clock shows on resume for how long. A wall clock that is set forward looks the same.
 */
export const suspendedMs = (clock: Clock, offset: number): number => Math.max(0, wallOffset(clock) - offset);

/** Milliseconds since `start`, suspensions included. */
export const elapsedMs = (clock: Clock, start: Instant): number =>
  clock.monotonic() - start.monotonic + suspendedMs(clock, start.wallOffset);

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
