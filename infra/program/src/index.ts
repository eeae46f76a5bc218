/** Command line, progress output and exit status of the development programs in bench, chaos and conformance. */
export { count, list, oneOf, positive, share } from './arguments.ts';
export * from './option.ts';
export { type Given, optionsGiven, parseCommandLine, parseOptions } from './options.ts';
export { runProgram, say } from './run-program.ts';
