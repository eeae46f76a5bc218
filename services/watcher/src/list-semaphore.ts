import { type Clock, Semaphore } from '@sluice/runtime';

/**
 * Limits how many clusters a process lists at once. The event loop handles everything that has arrived before it handles timers,
 * so with the lists of hundreds of clusters, heartbeats of leases would come too late.
 */
export const listSemaphore = (clock: Clock): Semaphore => new Semaphore({ clock, permits: 8, maxHoldMs: 2_000 });
