import { type OptionSet, type OptionValues, optionsHelp } from './option.ts';
import { parseOptions } from './options.ts';
import { runProgram } from './run-program.ts';

/** A program whose command line has declared options and no positional arguments. */
export interface Command<O extends OptionSet> {
  /** For example `node bench/bus.ts`. */
  readonly usage: string;
  /** What it does, for the help. Ends with a newline. */
  readonly about: string;
  readonly options: O;
  /** Returns the exit status; default 0. */
  readonly main: (options: OptionValues<O>) => unknown;
  /** Exit status after an error; default 1. */
  readonly failed?: number;
}

/** Runs a program, or prints its help for `--help`. */
export function runCommand<O extends OptionSet>({ usage, about, options, main, failed }: Command<O>): Promise<void> {
  return runProgram(() => {
    const values = parseOptions(options, process.argv.slice(2));
    if (values !== 'help') return main(values);
    process.stdout.write(`usage: ${usage} [options]\n\n${about}\n${optionsHelp(options)}`);
    return 0;
  }, failed);
}
