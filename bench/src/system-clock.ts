import type { Clock } from '@sluice/runtime';

/** The machine's clock. */
export const systemClock: Clock = {
  now: () => performance.timeOrigin + performance.now(),
  monotonic: () => performance.now(),
  schedule(delayMs, callback) {
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  },
};
