import { printable, printableLine } from './printable.ts';

/** Formats rows as a table with headings, in the style of kubectl. */
export function formatTable(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const table = [headings, ...rows].map((row) => row.map(printableLine));
  const widths = headings.map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('   ');
  return table.map((row) => `${line(row).trimEnd()}\n`).join('');
}

/** Formats labelled values, one per line, with the values aligned. An empty label continues the one before. */
export function formatFields(fields: readonly (readonly [label: string, value: string])[]): string {
  const width = Math.max(...fields.map(([label]) => label.length)) + 3;
  return fields.map(([label, value]) => `${(label && `${label}:`).padEnd(width)}${printable(value)}\n`).join('');
}

export const timestamp = (at: number): string => new Date(at).toISOString();

export const firstLine = (text: string): string => text.split('\n')[0] ?? '';
