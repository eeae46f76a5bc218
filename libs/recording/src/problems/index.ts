export { type FoundProblem, findProblems, type ProblemSource } from './find-problems.ts';
export { outagesOf } from './outages-of.ts';
export { type ProblemReason, problemReasons, problemSeverities, repeatedReasons } from './problem-reasons.ts';
export type { ProblemRule } from './problem-rules.ts';
