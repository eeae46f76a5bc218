import { type ConsoleCosts, consoleCosts } from './unit-costs.ts';
import type { Demand, PartUsage } from './usage.ts';

/** What the console of a fleet uses, with the history of at most `maxServices` Services. */
export function consoleUsage(
  { services, changes }: Pick<Demand, 'services' | 'changes'>,
  maxServices: number,
  { change, memory }: ConsoleCosts = consoleCosts,
): PartUsage {
  const histories = Math.min(services, maxServices);
  return {
    cpu: change * changes,
    memory: memory.fixed + memory.perService * services + memory.perHistory * histories,
  };
}
