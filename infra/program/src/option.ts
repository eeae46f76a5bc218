import { count, list, oneOf, positive, share } from './arguments.ts';

/** An option of a program: its place in the help, its default, and how to parse it. */
export interface Option<T> {
  /** Placeholder of the value in the help; empty for a flag. */
  readonly placeholder: string;
  readonly help: string;
  /** The default as text; false for a flag, undefined if there is none. */
  readonly fallback: string | false | undefined;
  /** How the help shows the default. Default: `fallback`. */
  readonly shown?: string;
  /** @throws UsageError */
  readonly parse: (name: string, given: string | boolean | undefined) => T;
}

export type OptionSet = Readonly<Record<string, Option<unknown>>>;

export type OptionValues<O extends OptionSet> = {
  readonly [Name in keyof O]: O[Name] extends Option<infer T> ? T : never;
};

/** A positive integer. */
export const integer = (fallback: number, help: string): Option<number> => ({
  ...{ placeholder: 'N', help, fallback: String(fallback) },
  parse: (name, given) => count(name, String(given)),
});

/** A positive number. */
export const positiveNumber = (fallback: number, help: string): Option<number> => ({
  ...{ placeholder: 'N', help, fallback: String(fallback) },
  parse: (name, given) => positive(name, String(given)),
});

/** Positive integers, separated by commas. */
export const integers = (fallback: readonly number[], help: string): Option<readonly number[]> => ({
  ...{ placeholder: 'LIST', help, fallback: fallback.join(',') },
  parse: (name, given) => list(String(given)).map((text) => count(name, text)),
});

/** Numbers between 0 and 1, separated by commas. */
export const shares = (fallback: readonly number[], help: string): Option<readonly number[]> => ({
  ...{ placeholder: 'LIST', help, fallback: fallback.join(',') },
  parse: (name, given) => list(String(given)).map((text) => share(name, text)),
});

/** One of `choices`. */
export const choice = <T extends string>(choices: readonly T[], fallback: T, help: string): Option<T> => ({
  ...{ placeholder: 'NAME', help: `${help}: ${choices.join(', ')}`, fallback },
  parse: (name, given) => oneOf(name, String(given), choices),
});

/** Some of `choices`, separated by commas; all by default. */
export const selection = <T extends string>(
  choices: readonly T[],
  help: string,
  fallback: readonly T[] = choices,
): Option<readonly T[]> => ({
  ...{ placeholder: 'LIST', help: `${help}: some of ${choices.join(', ')}`, fallback: fallback.join(',') },
  ...(fallback === choices && { shown: 'all' }),
  parse: (name, given) => list(String(given)).map((text) => oneOf(name, text, choices)),
});

/** False unless given. */
export const flag = (help: string): Option<boolean> => ({
  ...{ placeholder: '', help, fallback: false },
  parse: (_, given) => given === true,
});

/** Any text. */
export const textOr = (fallback: string, placeholder: string, help: string): Option<string> => ({
  ...{ placeholder, help, fallback },
  parse: (_, given) => String(given),
});

/** Any text; undefined unless given. */
export const text = (placeholder: string, help: string): Option<string | undefined> => ({
  ...{ placeholder, help, fallback: undefined },
  parse: (_, given) => (given === undefined ? undefined : String(given)),
});

/** A line of help per option with its default. Lines of multi-line help are aligned. */
export function optionsHelp(options: OptionSet): string {
  const rows = Object.entries(options).map(([name, { placeholder, help, fallback, shown = fallback }]) => [
    `--${name} ${placeholder}`,
    shown ? `${help} (${shown})` : help,
  ]);
  const width = Math.max(...rows.map(([usage = '']) => usage.length));
  const indent = `\n${' '.repeat(width + 4)}`;
  return rows.map(([usage = '', help = '']) => `  ${usage.padEnd(width)}  ${help.replaceAll('\n', indent)}\n`).join('');
}
