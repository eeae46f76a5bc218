import type { Clock, Random } from '@sluice/runtime';

/** Time and chance of this machine, for the parts of Sluice that run inside the bench. */
export const clock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  schedule(delayMs, callback) {
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  },
};

export const random: Random = { next: () => Math.random() };
