import { printable, printableLine } from './printable.ts';
import { wrap } from './wrap.ts';

const gap = '   ';
/** The last column wraps if it has room for this many characters. */
const minLastColumn = 40;

/**
 * Formats rows as a table with headings, in the style of kubectl. If it is wider than `width`, the last column wraps; if
 * that does not suffice, each row becomes a block of labelled values.
 */
export function formatTable(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  width = Number.POSITIVE_INFINITY,
): string {
  const table = [headings, ...rows].map((row) => row.map(printableLine));
  const widths = headings.map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0)));
  const indent = widths.slice(0, -1).reduce((sum, columns) => sum + columns + gap.length, 0);
  const room = width - indent;
  if (room < Math.min(minLastColumn, widths.at(-1) ?? 0)) return blocks(headings, rows, width);
  return table.map((row) => tableRow(row, widths, room)).join('');
}

function tableRow(row: readonly string[], widths: readonly number[], room: number): string {
  const cells = row.slice(0, -1).map((cell, column) => `${cell.padEnd(widths[column] ?? 0)}${gap}`);
  const first = cells.join('');
  const last = row.at(-1) ?? '';
  const lines = last.length <= room ? [last] : wrap(last, room);
  return lines.map((line, i) => `${`${i === 0 ? first : ' '.repeat(first.length)}${line}`.trimEnd()}\n`).join('');
}

function blocks(headings: readonly string[], rows: readonly (readonly string[])[], width: number): string {
  const labels = headings.map((heading) => heading.charAt(0) + heading.slice(1).toLowerCase());
  const block = (row: readonly string[]) =>
    formatFields(
      labels.map((label, column) => [label, printableLine(row[column] ?? '')] as const).filter(([, value]) => value),
      width,
    );
  return rows.map(block).join('\n');
}

/**
 * Formats labelled values, one per line, with the values aligned and wrapped at `width`. An empty label continues the one
 * before.
 */
export function formatFields(
  fields: readonly (readonly [label: string, value: string])[],
  width = Number.POSITIVE_INFINITY,
): string {
  const indent = Math.max(...fields.map(([label]) => label.length)) + 3;
  return fields
    .map(([label, value]) => {
      const lines = printable(value)
        .split('\n')
        .flatMap((line) => (indent + line.length <= width ? [line] : wrap(line, width - indent)));
      const first = (label && `${label}:`).padEnd(indent);
      return lines.map((line, i) => `${i === 0 ? first : ' '.repeat(indent)}${line}\n`).join('');
    })
    .join('');
}

export const timestamp = (at: number): string => new Date(at).toISOString();

export const firstLine = (text: string): string => text.split('\n')[0] ?? '';
