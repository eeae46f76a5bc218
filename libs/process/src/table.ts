/** Rows in columns under their headings, as kubectl shows them. */
export function formatTable(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const table = [headings, ...rows];
  const widths = headings.map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('   ');
  return table.map((row) => `${line(row).trimEnd()}\n`).join('');
}

export const timestamp = (at: number): string => new Date(at).toISOString();

export const firstLine = (text: string): string => text.split('\n')[0] ?? '';

/** What a terminal can show: control characters would be obeyed by it. */
export function printable(text: string): string {
  return text.replaceAll(
    /[\p{Cc}--[\n\t]]/gv,
    (character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`,
  );
}
