import { machineDescription } from './process-stats.ts';
import { rounded } from './statistics.ts';
import { markdownTable, type Table, textTable } from './table.ts';

export const outputs = ['table', 'json', 'markdown'] as const;
export type Output = (typeof outputs)[number];

export interface Report {
  readonly tables: readonly Table[];
  /** Printed below the tables, before the machine. Ends with a space. */
  readonly conditions?: string;
  readonly json: object;
}

/** Prints the JSON with the machine, or the tables with a line of conditions. */
export function printResults(output: Output, results: Report): void {
  const machine = machineDescription();
  if (output === 'json') {
    const all = { machine, node: process.version, ...results.json };
    process.stdout.write(`${JSON.stringify(all, rounded, 2)}\n`);
    return;
  }
  const print = output === 'markdown' ? markdownTable : textTable;
  const { tables, conditions = '' } = results;
  process.stdout.write(`${tables.map(print).join('\n')}\n${conditions}${machine}, Node ${process.version}.\n`);
}
