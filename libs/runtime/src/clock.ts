/** Time, as a port: nothing below services/ reads the system's clock or starts a timer of its own. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Milliseconds from an arbitrary origin, never going back. */
  monotonic(): number;
  /** Runs `callback` once, `delayMs` from now, unless cancelled. Never runs it synchronously. */
  schedule(delayMs: number, callback: () => void): Cancel;
}

/** Idempotent; does nothing once the callback has run. */
export type Cancel = () => void;

/** Resolves after `delayMs`, or at once when `signal` aborts; it never rejects. */
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
