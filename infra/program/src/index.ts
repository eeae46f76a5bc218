/** What the programs for those who work on Sluice share: benches, chaos, conformance. */
export { count, list, oneOf, positive, share } from './arguments.ts';
export { type Given, optionsGiven, parseCommandLine } from './options.ts';
export { runProgram, say } from './run-program.ts';
