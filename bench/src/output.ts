import { type Conditions, conditionsText } from './conditions.ts';
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
export function printResults(output: Output, results: Report, where: Conditions): void {
  if (output === 'json') {
    const all = { conditions: where, ...results.json };
    process.stdout.write(`${JSON.stringify(all, rounded, 2)}\n`);
    return;
  }
  const print = output === 'markdown' ? markdownTable : textTable;
  const { tables, conditions = '' } = results;
  process.stdout.write(`${tables.map(print).join('\n')}\n${conditions}${conditionsText(where)}.\n`);
}
