import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Finding, Page } from './markdown.ts';

/** What the page concedes needs no test. */
const concession = /^- (\*\*Not prevented\*\*|It can |They can )/;

/**
 * Checks SECURITY.md: each claim of its sections names a test (T1), which its last list has, in a file that exists and contains the
 * title; and each item of the list shows a claim.
 */
export function checkSecurityClaims({ path, text }: Page, root: string): Finding[] {
  const lines = text.split('\n');
  const finding = (index: number, message: string): Finding => ({ path, line: index + 1, message });
  const rows = lines.flatMap((line, index) => {
    const [, name = '', file = '', title = ''] = /^- (T\d+) `([^`]+)`: (.+)$/.exec(line) ?? [];
    return name === '' ? [] : [{ name, file, title, index }];
  });
  const end = lines.indexOf('## Tests');
  const claims = lines.slice(0, end);
  const cited = new Set(claims.slice(lines.indexOf('## Assets')).flatMap((line) => line.match(/\bT\d+\b/g) ?? []));
  const names = new Set(rows.map(({ name }) => name));
  return [
    ...rows.filter(({ name }) => !cited.has(name)).map(({ name, index }) => finding(index, `${name} shows no claim`)),
    ...[...cited].filter((name) => !names.has(name)).map((name) => finding(end, `${name} is no test of the list`)),
    ...rows
      .filter(({ file, title }) => !hasTest(join(root, file), title))
      .map(({ name, file, index }) => finding(index, `${name}: ${file} has no test with this title`)),
    ...untested(claims).map((index) => finding(index, 'name the test of this claim, or say what is not prevented')),
  ];
}

function hasTest(file: string, title: string): boolean {
  const quoted = [`'${title}'`, `"${title}"`, `\`${title}\``];
  try {
    const source = readFileSync(file, 'utf8');
    return quoted.some((one) => source.includes(`(${one}`) || source.includes(`\n    ${one}`));
  } catch {
    return false;
  }
}

/** The lines at which items without a test begin, from the section on what each can do. */
function untested(lines: readonly string[]): readonly number[] {
  const first = lines.findIndex((line) => line.startsWith('### '));
  const starts = lines.flatMap((line, index) => (index > first && line.startsWith('- ') ? [index] : []));
  return starts.filter((start) => {
    const length = lines.slice(start + 1).findIndex((line) => !line.startsWith('  '));
    const item = lines.slice(start, start + 1 + length).join(' ');
    return !concession.test(item) && !/\bT\d+\b/.test(item);
  });
}
