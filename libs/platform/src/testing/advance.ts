import type { VirtualClock } from '../clock.ts';

/** Advances the virtual clock by `ms`, running due timers in order and pending promises in between. */
export async function advance(clock: VirtualClock, ms: number): Promise<void> {
  const until = clock.now() + ms;
  do await new Promise((resolve) => setImmediate(resolve));
  while (clock.step(until));
}
