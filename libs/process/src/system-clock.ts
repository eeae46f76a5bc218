import type { Clock } from '@sluice/runtime';

// It never changes, and each look at it costs nearly as much as one at the time.
const origin = performance.timeOrigin;

/** The machine's clock, with fractions of milliseconds. */
export const systemClock: Clock = {
  now: () => origin + performance.now(),
  monotonic: () => performance.now(),
  schedule(delayMs, callback) {
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  },
};
