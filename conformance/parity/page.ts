import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { enclosingSymbol } from './enclosing-symbol.ts';
import { type BrokenRule, fileOf, type Rule, type Section } from './rule.ts';

const root = join(import.meta.dirname, '../..');

const introduction = `# Parity

Each rule of the upstream controllers, where Sluice implements it, and which tests fail when it is broken. For people who change
the controllers.

\`npm run parity\` proves it: it breaks each rule by a small change of the declaration named here, which \`conformance/parity/rules\`
contains, runs the tests, and requires that they fail. Most rules are also held by the recorded scenarios that
\`npm run conformance\` plays. “Differs” is explained in [deviations](deviations.md).

After a change of \`conformance/parity/rules\`, \`npm run parity -- --write-page\` writes this page.
`;

/** Renders docs/reference/parity.md. */
export function parityPage(sections: readonly Section[]): string {
  return [introduction, ...sections.map(sectionTable)].join('\n');
}

function sectionTable({ heading, rules }: Section): string {
  const rows = rules.map((rule) => [rule.id, titleCell(rule), whereCell(rule), testsCell(rule)]);
  const head = ['rule', '', 'where', 'tests that fail when it is broken'];
  const widths = head.map((title, column) =>
    Math.max(title.length, ...rows.map((cells) => cells[column]?.length ?? 0)),
  );
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  const table = [head, widths.map((width) => '-'.repeat(width)), ...rows].map(line).join('\n');
  return `## ${heading}\n\n${table}\n`;
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

const testsCell = ({ broken }: Rule): string =>
  [...new Set(broken.flatMap(({ tests }) => tests.map((test) => `\`${fileOf(test)}\``)))].join(', ');

/** The declaration that a change breaks. */
export function symbolOf({ file, search }: BrokenRule): string | undefined {
  if (!file.endsWith('.ts')) return undefined;
  const source = readFileSync(join(root, file), 'utf8');
  const start = source.indexOf(search);
  return enclosingSymbol(source, start + search.search(/\S/));
}
