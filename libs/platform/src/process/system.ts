import { performance } from 'node:perf_hooks';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import type { Clock, Random } from '../index.ts';

/** `performance.now()` starts at 0 in each thread. */
const threadStart = Number(process.hrtime.bigint()) / 1e6 - performance.now();

/** `Date.now()` is rounded down to milliseconds and may be read slightly later. */
const toleranceMs = 2;
/** The system time at which `performance.now()` would be 0. Changes when the system clock is set or the machine was suspended. */
let origin = performance.timeOrigin;

/** The system clock, with a resolution below one millisecond. `monotonic` is the same in all threads of the process. */
export const systemClock: Clock = {
  now() {
    const elapsed = performance.now();
    const wall = Date.now();
    if (Math.abs(origin + elapsed - wall) > toleranceMs) origin = wall - elapsed;
    return origin + elapsed;
  },
  monotonic: () => threadStart + performance.now(),
  schedule(delayMs, callback) {
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  },
};

export const systemRandom: Random = { next: () => Math.random() };

/** Time for which the event loop of this thread was busy since it started, in milliseconds. */
export const eventLoopBusyMs = (): number => performance.eventLoopUtilization().active;

/** Limit of the JavaScript heap of this process, in bytes. Node derives it from the machine's or container's memory. */
export const heapLimitBytes = (): number => getHeapStatistics().heap_size_limit;

/**
 * Has V8 count buffers as part of the heap when it decides when to collect garbage. It otherwise marks the whole heap after each
 * 64 MiB of new buffers, however large the heap is, and a process with many clusters allocates them all the time (ADR 0001). Set at run
 * time because Node does not accept the flag in NODE_OPTIONS, and an image starts all roles with the same command line.
 */
export function countBuffersAsHeap(): void {
  setFlagsFromString('--external-memory-accounted-in-global-limit');
}
