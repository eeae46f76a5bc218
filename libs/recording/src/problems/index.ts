export { type FoundProblem, findProblems, type ProblemSource } from './find-problems.ts';
export { repeatedReasons } from './problem-reasons.ts';
