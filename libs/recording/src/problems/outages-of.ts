import type { RecordedPeriod } from '../queries.ts';
import type { ServiceProblem } from './joined-problems.ts';
import { outageReasons } from './problem-reasons.ts';

/**
 * When Services had no ready endpoint in a period, in the order of the start. Problems that follow each other at once are one outage.
 * `problems`: also those from before the period.
 */
export function outagesOf(
  problems: readonly ServiceProblem[],
  { from, to }: RecordedPeriod,
): readonly ServiceProblem[] {
  const outages: ServiceProblem[] = [];
  /** Index of the last one, by Service. */
  const last = new Map<string, number>();
  for (const problem of problems) {
    if (!outageReasons.includes(problem.reason)) continue;
    const index = last.get(problem.key) ?? -1;
    const before = outages[index];
    if (before !== undefined && before.to === problem.from) outages[index] = { ...before, to: problem.to };
    else last.set(problem.key, outages.push({ ...problem, reason: 'NoReadyEndpoints' }) - 1);
  }
  return outages.filter((one) => one.from <= to && (one.to === null || one.to >= from));
}
