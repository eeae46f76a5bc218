export { type FoundProblem, findProblems, type ProblemOptions, type ProblemSource } from './find-problems.ts';
export type { ServiceProblem } from './joined-problems.ts';
export { outagesOf } from './outages-of.ts';
export {
  allOf,
  outageReasons,
  type ProblemReason,
  problemReasons,
  problemSeverities,
  repeatedReasons,
} from './problem-reasons.ts';
export type { ProblemRule } from './problem-rules.ts';
