/** A table of text cells. Rows of ratios are set in italics in Markdown. */
export interface Table {
  readonly title: string;
  readonly head: readonly string[];
  readonly rows: readonly { readonly ratio?: boolean; readonly cells: readonly string[] }[];
}

export function textTable({ title, head, rows }: Table): string {
  const lines = aligned([head, ...rows.map(({ cells }) => cells)]).map((cells) => cells.join(' ').trimEnd());
  return `${title}\n${lines.map((line) => `  ${line}\n`).join('')}`;
}

export function markdownTable(table: Table): string {
  return `### ${table.title}\n\n${markdownRows(table)}`;
}

/** Without the title. Formatted as the repository's formatter does. */
export function markdownRows({ head, rows }: Table): string {
  const body = rows.map(({ ratio, cells }) => (ratio ? cells.map((cell) => cell && `_${cell}_`) : cells));
  const [first = [], ...rest] = aligned([head, ...body]);
  const rule = first.map(({ length }, column) => (column === 0 ? '-'.repeat(length) : `${'-'.repeat(length - 1)}:`));
  const lines = [first, rule, ...rest].map((cells) => `| ${cells.join(' | ')} |\n`);
  return lines.join('');
}

/** The first column is left-aligned, the others right-aligned. */
function aligned(table: readonly (readonly string[])[]): readonly (readonly string[])[] {
  const widths = (table[0] ?? []).map((_, column) => Math.max(...table.map((cells) => cells[column]?.length ?? 0)));
  return table.map((cells) =>
    cells.map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0))),
  );
}

/** Three significant digits, the precision of these measurements. */
export function number(value: number): string {
  if (!Number.isFinite(value)) return '–';
  const size = Math.abs(value);
  if (size >= 100 || Number.isInteger(value)) return Math.round(value).toLocaleString('en');
  return value.toFixed(size >= 10 ? 1 : 2);
}

export function ratioText(mine = Number.NaN, other = Number.NaN): string {
  const value = mine / other;
  return Number.isFinite(value) ? `${value.toFixed(value >= 10 ? 0 : value >= 0.1 ? 2 : 3)}×` : '–';
}
