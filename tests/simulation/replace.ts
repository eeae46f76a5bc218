import { type Random, randomInteger } from '@sluice/platform';
import { type Member, replacedWithinMs } from './fleet.ts';
import type { World } from './world.ts';

/** Starts another process for one that has ended. */
export function replace({ role, cluster }: Member, random: Random, { clock, fleet }: World): void {
  clock.schedule(randomInteger(random, 0, replacedWithinMs), () => void fleet.start(role, cluster));
}
