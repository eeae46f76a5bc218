import type { Outcome, PlannedMutations } from '@sluice/messages';
import type { Display } from './display.ts';
import type { Statistics } from './statistics.ts';

/** One plan with its Outcome, as the displays show it. */
export interface Applied {
  readonly cluster: string;
  readonly plan: PlannedMutations;
  readonly outcome: Outcome;
  /** From the watch event to the API server's last response, in milliseconds. */
  readonly latencyMs: number;
}

/** Counts an outcome and shows it. */
export function recordOutcome(
  statistics: Statistics,
  display: Pick<Display, 'applied'>,
  { cluster, plan, outcome }: Omit<Applied, 'latencyMs'>,
): void {
  const since = plan.causes.first[0]?.observedAt ?? plan.decidedAt;
  const applied = { cluster, plan, outcome, latencyMs: outcome.completedAt - since };
  statistics.add(applied);
  display.applied(applied);
}
