import type { VirtualClock } from '../virtual-clock.ts';

/** Runs all pending promises and every timer that is due within the next `ms` milliseconds of the virtual clock. */
export async function advance(clock: VirtualClock, ms: number): Promise<void> {
  const until = clock.now() + ms;
  do await new Promise((resolve) => setImmediate(resolve));
  while (clock.step(until));
}
