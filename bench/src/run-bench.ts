import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { choice, type OptionSet, type OptionValues, runCommand } from '@sluice/program';
import { type Output, outputs, printResults, type Report } from './output.ts';
import { requireProcessStats } from './process-stats.ts';

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

/** Runs a benchmark as a program with the option `--output`. */
export function runBench<O extends OptionSet>({ name, about, options, measure }: Bench<O>): Promise<void> {
  return runCommand({
    usage: `node bench/${name}.ts`,
    about,
    options: { ...options, output: choice(outputs, 'table', 'output format') },
    async main(values) {
      requireProcessStats();
      const directory = mkdtempSync(join(tmpdir(), `sluice-bench-${name}-`));
      const report = await measure(values as unknown as OptionValues<O>, directory);
      if (!report.failed) rmSync(directory, { recursive: true, force: true });
      printResults((values as unknown as { readonly output: Output }).output, report);
      return report.failed ? 1 : 0;
    },
  });
}
