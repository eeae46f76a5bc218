import type { Applied, Statistics } from './statistics.ts';

/** Shows the progress of a run. */
export interface Display {
  started(lines: readonly string[]): void;
  /** All caches are synced. */
  synced(): void;
  applied(applied: Applied): void;
  ended(statistics: Statistics, ranMs: number): void;
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
