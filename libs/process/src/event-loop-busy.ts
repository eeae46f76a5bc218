import { performance } from 'node:perf_hooks';

/** Time for which the event loop of this thread was busy since it started, in milliseconds. */
export const eventLoopBusyMs = (): number => performance.eventLoopUtilization().active;
