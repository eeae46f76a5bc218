import type { Clock, Random } from '@sluice/runtime';

/** The machine's clock, with fractions of milliseconds. */
export const systemClock: Clock = {
  now: () => performance.timeOrigin + performance.now(),
  monotonic: () => performance.now(),
  schedule(delayMs, callback) {
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  },
};

export const systemRandom: Random = { next: () => Math.random() };
