import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readPages } from './markdown.ts';
import { checkSecurityClaims } from './security-claims.ts';

const root = join(import.meta.dirname, '../..');
const own = 'infra/docs/security-claims.test.ts';

const page = (claims: string, rows: string) => ({
  path: 'SECURITY.md',
  text: `# Security\n\n(T1) is a test.\n\n## Assets\n\n### A user\n\n${claims}\n\n## Tests\n\n${rows}\n`,
});
const row = (name: string, title: string, file = own) => `- ${name} \`${file}\`: ${title}`;
const problems = (claims: string, rows: string) =>
  checkSecurityClaims(page(claims, rows), root).map(({ line, message }) => `${line} ${message}`);
const title = 'a claim with its test passes';

test('a claim with its test passes', () => {
  expect(
    problems('- It does nothing,\n  really (T1).\n- It can do that.\n- **Not prevented**: this.', row('T1', title)),
  ).toEqual([]);
});

test.each([
  [
    'a claim without a test',
    '- It does nothing (T1).\n- It reads nothing.',
    row('T1', title),
    '10 name the test of this claim, or say what is not prevented',
  ],
  ['a test that is missing', '- It does nothing (T1, T2).', row('T1', title), '11 T2 is no test of the list'],
  [
    'a test that nothing cites',
    '- It does nothing (T1).',
    `${row('T1', title)}\n${row('T2', title)}`,
    '14 T2 shows no claim',
  ],
  [
    'a title that no test has',
    '- It does nothing (T1).',
    row('T1', 'a claim'),
    `13 T1: ${own} has no test with this title`,
  ],
  [
    'a file that does not exist',
    '- It does nothing (T1).',
    row('T1', title, 'x.test.ts'),
    '13 T1: x.test.ts has no test with this title',
  ],
])('%s is reported', (_, claims, rows, problem) => {
  expect(problems(claims, rows)).toEqual([problem]);
});

test('every claim of SECURITY.md has its tests', () => {
  const found = readPages(root).filter(({ path }) => path === 'SECURITY.md');
  expect(found).toHaveLength(1);
  expect(found.flatMap((one) => checkSecurityClaims(one, root))).toEqual([]);
});
