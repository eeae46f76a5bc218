import { type Clock, Semaphore } from '@sluice/platform';

/**
 * Limits how many clusters a process lists and publishes at once. The event loop handles everything that has arrived before it handles
 * timers, so with hundreds of clusters heartbeats of leases would come too late, and the objects of all of them would be in memory
 * before any is published. An API server that sends nothing for two seconds, or not all in half a minute, delays no other for longer.
 */
export const listSemaphore = (clock: Clock): Semaphore =>
  new Semaphore({ clock, permits: 8, maxIdleMs: 2_000, maxHoldMs: 30_000 });
