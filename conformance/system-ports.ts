import type { Clock, Random } from '@sluice/runtime';

/** The machine's own clock and chance, for suites on genuine servers. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  schedule(delayMs, callback) {
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  },
};

export const systemRandom: Random = { next: () => Math.random() };
