import type { AllInOneOptions } from '../../composition/all-in-one.ts';
import type { Display } from './display.ts';
import type { Statistics } from './statistics.ts';

/** Counts and shows what a run does. */
export function watchOutcomes(
  statistics: Statistics,
  display: Pick<Display, 'applied'>,
): Required<Pick<AllInOneOptions, 'onOutcome' | 'onMalformed'>> {
  return {
    onOutcome({ name: cluster }, plan, outcome) {
      const since = plan.causes.first[0]?.observedAt ?? plan.decidedAt;
      const applied = { cluster, plan, outcome, latencyMs: outcome.completedAt - since };
      statistics.add(applied);
      display.applied(applied);
    },
    onMalformed() {
      statistics.malformed++;
    },
  };
}
