import type { Clock } from '@sluice/runtime';

// A property access costs nearly as much as reading the time.
const origin = performance.timeOrigin;
/** `performance.now()` starts at 0 in each thread. */
const threadStart = Number(process.hrtime.bigint()) / 1e6 - performance.now();

/** The system clock, with a resolution below one millisecond. `monotonic` is the same in all threads of the process. */
export const systemClock: Clock = {
  now: () => origin + performance.now(),
  monotonic: () => threadStart + performance.now(),
  schedule(delayMs, callback) {
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  },
};
