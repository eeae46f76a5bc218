import type { FileProblem } from './joined-problems.ts';
import { outageReasons } from './problem-reasons.ts';

/** The problems of a file for which Services have no ready endpoint. Those that follow each other at once are one outage. */
export function outagesOf(problems: readonly FileProblem[]): readonly FileProblem[] {
  const outages: FileProblem[] = [];
  /** Index of the last one, by Service. */
  const last = new Map<string, number>();
  for (const problem of problems) {
    if (!outageReasons.includes(problem.reason)) continue;
    const index = last.get(problem.key) ?? -1;
    const before = outages[index];
    if (before !== undefined && before.to === problem.from) outages[index] = { ...before, to: problem.to };
    else last.set(problem.key, outages.push({ ...problem, reason: 'NoReadyEndpoints' }) - 1);
  }
  return outages;
}
