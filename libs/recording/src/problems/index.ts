export { type FoundProblem, findProblems, type ProblemSource } from './find-problems.ts';
export { outagesOf } from './outages-of.ts';
export { repeatedReasons } from './problem-reasons.ts';
