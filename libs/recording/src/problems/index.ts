export { type FoundProblem, findProblems, type ProblemSource } from './find-problems.ts';
