import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Cells } from './cells.ts';
import { type Conditions, commonConditions, conditionsText } from './conditions.ts';
import { SUBJECT } from './controllers.ts';
import { outlines, overview } from './overview.ts';
import { tables } from './report.ts';
import type { Results } from './results.ts';
import type { BenchResults } from './run-bench.ts';
import { markdownRows, type Table } from './table.ts';
import { warnings } from './warnings.ts';
import { allWorkloads } from './workloads.ts';

/** Pages with tables of results. */
export const pages = ['docs/contributing/performance.md', 'bench/results/README.md'];

const region = /(<!-- results of ([\w-]+): node bench\/tables\.ts -->\n)[\s\S]*?(<!-- end of the results -->)/g;

/**
 * The page with the tables of each region, from results in `directory`. A region is for a file NAME.json or a folder NAME of cells.
 *
 * @throws Error if results that stand in one region are of several machines or commits
 */
export function withTables(page: string, directory: string): string {
  return page.replace(region, (_, begin: string, name: string, end: string) => {
    return `${begin}\n${render(name, directory)}\n${end}`;
  });
}

interface Recorded {
  readonly conditions: Conditions;
  /** How it was measured. */
  readonly command: string;
  readonly tables: readonly Table[];
  readonly warnings: readonly string[];
}

function render(name: string, directory: string): string {
  const recorded = read(name, directory);
  if (recorded === undefined) return 'Not measured yet.\n';
  const { commit } = recorded.conditions;
  if (commit.endsWith('+')) throw new Error(`${name}: measured with changes that no commit has: ${commit}`);
  const parts = recorded.tables.map((table) => `**${table.title}**\n\n${markdownRows(table)}`);
  const unreliable = recorded.warnings.map((warning) => `- ${warning}\n`).join('');
  return [
    `\`${recorded.command}\`: ${conditionsText(recorded.conditions)}.\n`,
    ...parts,
    ...(unreliable === '' ? [] : [`Unreliable:\n\n${unreliable}`]),
  ].join('\n');
}

function read(name: string, directory: string): Recorded | undefined {
  if (existsSync(join(directory, name))) return readCells(join(directory, name));
  const file = join(directory, `${name}.json`);
  if (!existsSync(file)) return undefined;
  const results: Results | BenchResults = JSON.parse(readFileSync(file, 'utf8'));
  const { conditions, command } = results;
  if ('tables' in results) return { conditions, command, tables: results.tables, warnings: [] };
  return { conditions, command: commandOf(results), tables: tables(results), warnings: warnings(results) };
}

function readCells(directory: string): Recorded | undefined {
  const cells = new Cells(directory);
  const controllers = cells.controllers();
  const measured = allWorkloads({ rounds: 1, seconds: 1 }).flatMap((workload) => {
    const results = cells.results(workload.name, controllers);
    return results === undefined ? [] : [{ workload, results }];
  });
  const [first] = measured;
  if (first === undefined) return undefined;
  const others = controllers.filter((name) => name !== SUBJECT);
  return {
    // Of all workloads: they stand in one table.
    conditions: commonConditions(cells.conditions()),
    command: commandOf(first.results),
    tables: others.flatMap((other) => overview(outlines(measured), other)),
    warnings: measured.flatMap(({ workload, results }) =>
      warnings(results).map((warning) => `${workload.name}, ${warning}`),
    ),
  };
}

const commandOf = ({ command, kubernetes }: Results): string => `${command}\`, Kubernetes \`${kubernetes}`;
