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
