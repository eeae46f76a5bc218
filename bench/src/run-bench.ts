import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { choice, type OptionSet, type OptionValues, runCommand, text } from '@sluice/program';
import { type Conditions, conditionsNow } from './conditions.ts';
import { type Output, outputs, printResults, type Report } from './output.ts';
import { requireProcessStats } from './process-stats.ts';
import { writeResults } from './results-file.ts';
import type { Table } from './table.ts';

/** A benchmark: its command line, its help and its measurement. */
export interface Bench<O extends OptionSet> {
  /** Name of the file in bench/. */
  readonly name: string;
  /** For the help: what it measures and how. Ends with a newline. */
  readonly about: string;
  readonly options: O;
  /**
   * Returns the results to print. `directory` is kept after a failure, because it contains the logs of the servers, and
   * removed otherwise.
   */
  readonly measure: (options: OptionValues<O>, directory: string) => Promise<BenchReport>;
}

export interface BenchReport extends Report {
  /** Whether the results are wrong. The exit status is then 1. */
  readonly failed?: boolean;
}

/** What `--json` writes. */
export interface BenchResults {
  readonly version: 2;
  readonly conditions: Conditions;
  readonly command: string;
  /** As printed. */
  readonly tables: readonly Table[];
  readonly data: object;
}

/** Runs a benchmark as a program with the options `--output` and `--json`. */
export function runBench<O extends OptionSet>({ name, about, options, measure }: Bench<O>): Promise<void> {
  return runCommand({
    usage: `node bench/${name}.ts`,
    about,
    options: {
      ...options,
      output: choice(outputs, 'table', 'output format'),
      json: text('FILE', 'also write the results to this file, for bench/tables.ts'),
    },
    async main(values) {
      requireProcessStats();
      const directory = mkdtempSync(join(tmpdir(), `sluice-bench-${name}-`));
      const { output, json } = values as unknown as { readonly output: Output; readonly json: string | undefined };
      const conditions = conditionsNow();
      const report = await measure(values as unknown as OptionValues<O>, directory);
      if (!report.failed) rmSync(directory, { recursive: true, force: true });
      printResults(output, report, conditions);
      if (json !== undefined) {
        const command = commandOf(name, options, values);
        const { tables, json: data } = report;
        writeResults(json, { version: 2, conditions, command, tables, data } satisfies BenchResults);
      }
      return report.failed ? 1 : 0;
    },
  });
}

/** The call with the options that differ from their defaults. */
function commandOf(name: string, options: OptionSet, values: Readonly<Record<string, unknown>>): string {
  const flags = Object.entries(options).flatMap(([option, { fallback, parse }]) => {
    const [value, standard] = [values[option], parse(option, fallback)].map((one) => `${one ?? ''}`);
    if (value === standard) return [];
    return [fallback === false ? `--${option}` : `--${option} ${value}`];
  });
  return `node bench/${name}.ts${flags.length > 0 ? ` ${flags.join(' ')}` : ''}`;
}
