/** Command line, progress output and exit status of the development programs in bench, chaos and conformance. */
export { count, list, oneOf } from './arguments.ts';
export * from './option.ts';
export { type Given, parseCommandLine, parseOptions } from './options.ts';
export { runCommand } from './run-command.ts';
export { runProgram, say } from './run-program.ts';
