import { type ParseArgsConfig, parseArgs } from 'node:util';
import { oneOf, UsageError } from './arguments.ts';
import { machineDescription } from './process-stats.ts';
import { rounded } from './statistics.ts';
import { markdownTable, type Table, textTable } from './table.ts';

/** A line about the progress, beside what is printed in the end. */
export function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

/**
 * Runs a program of the bench: exit status 0 after a whole measurement, 1 when it failed, 2 for wrong usage, 130 when
 * interrupted. The servers that it started end with it, however it ends.
 */
export async function runProgram(main: () => Promise<void>): Promise<void> {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
  try {
    await main();
  } catch (error) {
    const wrongUsage = error instanceof UsageError;
    say(wrongUsage ? `error: ${error.message}\n(--help tells what there is)` : String(error));
    process.exitCode = wrongUsage ? 2 : 1;
  }
}

type Given<T> = { readonly [Name in keyof T]: T[Name] extends string ? string : string | undefined };

/**
 * The options of the command line, all of them texts; undefined for those without a default that were not given. `help`
 * is printed if it is asked for, and undefined returned.
 *
 * @throws UsageError
 */
export function optionsGiven<T extends Readonly<Record<string, string | undefined>>>(
  defaults: T,
  help: string,
): Given<T> | undefined {
  const options = Object.keys(defaults).map((name) => [name, { type: 'string' as const }] as const);
  const { help: asked, ...given } = parse({ ...Object.fromEntries(options), help: { type: 'boolean' } });
  if (asked !== true) return { ...defaults, ...given } as unknown as Given<T>;
  process.stdout.write(help);
  return undefined;
}

function parse(options: NonNullable<ParseArgsConfig['options']>) {
  try {
    return parseArgs({ options }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

export const outputs = ['table', 'json', 'markdown'] as const;
export type Output = (typeof outputs)[number];

/** @throws UsageError */
export const outputOf = (text: string): Output => oneOf('output', text, outputs);

/** What was measured, as the option `--output` has it: the results and the conditions, or the tables and a last line. */
export function printResults(
  output: Output,
  results: { readonly tables: readonly Table[]; readonly conditions: string; readonly json: object },
): void {
  const machine = machineDescription();
  if (output === 'json') {
    const all = { machine, node: process.version, ...results.json };
    process.stdout.write(`${JSON.stringify(all, rounded, 2)}\n`);
    return;
  }
  const print = output === 'markdown' ? markdownTable : textTable;
  const { tables, conditions } = results;
  process.stdout.write(`${tables.map(print).join('\n')}\n${conditions}${machine}, Node ${process.version}.\n`);
}
