import type { Rule, Section } from './rule.ts';

const marker = '<!-- rules: npm run parity -- --write-page -->\n';

/** The page docs/reference/parity.md with the lists of these rules after its marker. */
export function parityPage(page: string, sections: readonly Section[]): string {
  return [proseOf(page) + marker, ...sections.map(sectionList)].join('\n');
}

/** What people write: everything before the lists of the rules. */
export const proseOf = (page: string): string => page.slice(0, page.indexOf(marker));

function sectionList({ heading, rules }: Section): string {
  const items = rules.map((rule) => `- **${rule.id}** ${titleOf(rule)}: ${filesOf(rule)}\n`);
  return `### ${heading}\n\n${items.join('')}`;
}

function titleOf({ title, note, differs }: Rule): string {
  const details = [...(note === undefined ? [] : [note]), ...(differs ? ['differs'] : [])].join('; ');
  return details === '' ? title : `${title} (${details})`;
}

const filesOf = ({ broken, unbreakable }: Rule): string =>
  unbreakable ?? [...new Set(broken.map(({ file }) => `\`${file}\``))].join(', ');
