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
