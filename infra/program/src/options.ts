import { parseArgs } from 'node:util';
import { errorMessage } from '@sluice/platform';
import { UsageError } from '@sluice/platform/process';
import type { OptionSet, OptionValues } from './option.ts';

type Defaults = Readonly<Record<string, string | false | undefined>>;

/** Parsed options. A missing one has its default: undefined if it has none, false for a flag. */
export type Given<T extends Defaults> = {
  readonly [Name in keyof T]: T[Name] extends string ? string : T[Name] extends false ? boolean : string | undefined;
};

export interface CommandLine<T extends Defaults> {
  readonly options: Given<T>;
  readonly positionals: readonly string[];
}

interface Expected<T extends Defaults> {
  readonly options: T;
  /** Whether positional arguments are allowed. Default false. */
  readonly positionals?: boolean;
}

/**
 * Parses a command line. Returns `help` for `--help` or `-h`.
 *
 * @throws UsageError
 */
export function parseCommandLine<T extends Defaults>(
  expected: Expected<T>,
  args: readonly string[],
): CommandLine<T> | 'help' {
  const { help, ...line } = parseAll(expected, args);
  return help ? 'help' : line;
}

function parseAll<T extends Defaults>(
  { options, positionals = false }: Expected<T>,
  args: readonly string[],
): CommandLine<T> & { readonly help: boolean } {
  const typed = Object.entries(options).map(
    ([name, value]) => [name, { type: value === false ? ('boolean' as const) : ('string' as const) }] as const,
  );
  try {
    const parsed = parseArgs({
      args: [...args],
      allowPositionals: positionals,
      options: { ...Object.fromEntries(typed), help: { type: 'boolean', short: 'h' } },
    });
    const { help = false, ...given } = parsed.values;
    return { help, options: { ...options, ...given } as unknown as Given<T>, positionals: parsed.positionals };
  } catch (error) {
    throw new UsageError(errorMessage(error));
  }
}

/**
 * Parses a command line into the values of declared options. Returns `help` for `--help` or `-h`, unless a value is wrong:
 * with `--help`, a test can check any command line without running it.
 *
 * @throws UsageError
 */
export function parseOptions<O extends OptionSet>(options: O, args: readonly string[]): OptionValues<O> | 'help' {
  const defaults = Object.fromEntries(Object.entries(options).map(([name, { fallback }]) => [name, fallback]));
  const line = parseAll({ options: defaults }, args);
  const given: Readonly<Record<string, string | boolean | undefined>> = line.options;
  const values = Object.entries(options).map(([name, { parse }]) => [name, parse(name, given[name])]);
  return line.help ? 'help' : (Object.fromEntries(values) as OptionValues<O>);
}
