import type { Applied } from './applied.ts';
import type { Display } from './display.ts';
import type { Statistics } from './statistics.ts';

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
