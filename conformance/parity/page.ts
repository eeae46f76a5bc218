import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { enclosingSymbol } from './enclosing-symbol.ts';
import type { BrokenRule, Rule, Section } from './rule.ts';

const root = join(import.meta.dirname, '../..');

const marker = '<!-- rules: npm run parity -- --write-page -->\n';

/** The page docs/reference/parity.md with the tables of these rules after its marker. */
export function parityPage(page: string, sections: readonly Section[]): string {
  return [proseOf(page) + marker, ...sections.map(sectionTable)].join('\n');
}

/** What people write: everything before the tables of the rules. */
export const proseOf = (page: string): string => page.slice(0, page.indexOf(marker));

function sectionTable({ heading, rules }: Section): string {
  const rows = rules.map((rule) => [rule.id, titleCell(rule), whereCell(rule)]);
  const head = ['rule', 'behaviour', 'where'];
  const widths = head.map((title, column) =>
    Math.max(title.length, ...rows.map((cells) => cells[column]?.length ?? 0)),
  );
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  const table = [head, widths.map((width) => '-'.repeat(width)), ...rows].map(line).join('\n');
  return `### ${heading}\n\n${table}\n`;
}

function titleCell({ title, note, differs }: Rule): string {
  const details = [...(note === undefined ? [] : [note]), ...(differs ? ['differs'] : [])].join('; ');
  return details === '' ? title : `${title}: ${details}`;
}

function whereCell({ broken, unbreakable }: Rule): string {
  const places = Map.groupBy(broken, ({ file }) => file);
  const cells = [...places].map(([file, changes]) => {
    const symbols = new Set(changes.map(symbolOf).filter((symbol) => symbol !== undefined));
    return [`\`${file}\``, [...symbols].map((symbol) => `\`${symbol}\``).join(', ')].join(' ').trimEnd();
  });
  return unbreakable ?? cells.join('; ');
}

/** The declaration that a change breaks. */
export function symbolOf({ file, search }: BrokenRule): string | undefined {
  if (!file.endsWith('.ts')) return undefined;
  const source = readFileSync(join(root, file), 'utf8');
  const start = source.indexOf(search);
  return enclosingSymbol(source, start + search.search(/\S/));
}
