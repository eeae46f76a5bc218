export { type FoundProblem, findProblems } from './find-problems.ts';
