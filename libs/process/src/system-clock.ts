import type { Clock } from '@sluice/runtime';

// Cached, because the getter costs nearly as much as reading the time.
const origin = performance.timeOrigin;

/** The system clock, with a resolution below one millisecond. */
export const systemClock: Clock = {
  now: () => origin + performance.now(),
  monotonic: () => performance.now(),
  schedule(delayMs, callback) {
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  },
};
