import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { plant } from '@sluice/program/planted-bug';
import { expect, test } from 'vitest';
import { parityPage, proseOf } from './page.ts';
import { fileOf, rulesIn } from './rule.ts';
import { sections } from './rules.ts';
import { hasTitle, type TestTitles, testTitles } from './test-titles.ts';

/** `npm run parity` breaks each rule and runs its tests; this finds what no longer fits the sources. */

/** Number of rules in each section of the behaviour. The tables of sections I and J are rules of their own. */
const counts = { A: 13, B: 11, C: 25, D: 28, E: 31, F: 14, G: 5, H: 22, I: 4, J: 5, K: 9, L: 6 };
const rules = sections.flatMap(({ rules }) => rules);
const root = join(import.meta.dirname, '../..');
const sources = new Map<string, string>();

function read(path: string): string {
  const known = sources.get(path) ?? readFileSync(join(root, path), 'utf8');
  sources.set(path, known);
  return known;
}

test('each rule is listed once', () => {
  const wanted = Object.entries(counts).flatMap(([section, count]) => [
    ...(section === 'I' || section === 'J' ? [section] : []),
    ...Array.from({ length: count }, (_, i) => `${section}${i + 1}`),
  ]);
  expect(rules.map(({ id }) => id)).toEqual(wanted);
});

test('each rule can be broken, and tests are named that notice', () => {
  for (const { id, broken } of rules) {
    for (const change of broken) {
      expect(plant({ name: id, ...change }, read(change.file))).not.toBe(read(change.file));
      expect(change.tests, `${id}: ${change.search}`).not.toEqual([]);
    }
  }
});

test('no change of Sluice breaks these rules', () => {
  const unbreakable = rules.filter(({ broken }) => broken.length === 0);
  expect(unbreakable.map(({ id, unbreakable: why }) => [id, why !== undefined])).toEqual([]);
  expect(rules.filter(({ broken, unbreakable: why }) => broken.length > 0 && why !== undefined)).toEqual([]);
});

test('each test exists', () => {
  const parsed = new Map<string, TestTitles>();
  const titlesOf = (file: string) => {
    const titles = parsed.get(file) ?? testTitles(read(file));
    parsed.set(file, titles);
    return titles;
  };
  const missing = rules.flatMap(({ id, broken }) =>
    broken.flatMap(({ tests }) =>
      tests.filter((one) => {
        const titles = titlesOf(fileOf(one));
        if (typeof one !== 'string') return !hasTitle(titles, one.title);
        return !titles.literal.flatMap(rulesIn).includes(id);
      }),
    ),
  );
  expect(missing).toEqual([]);
});

test('a rule differs if and only if the deviations list it', () => {
  const deviations = proseOf(read('docs/reference/parity.md'))
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .flatMap((line) => rulesIn(line.split('|')[1] ?? ''));
  const listed = new Set(deviations);
  expect(rules.filter(({ id }) => listed.has(id)).map(({ id }) => id)).toEqual(
    rules.filter(({ differs }) => differs).map(({ id }) => id),
  );
});

test('docs/reference/parity.md is up to date', () => {
  const page = read('docs/reference/parity.md');
  expect(page, 'run npm run parity -- --write-page').toBe(parityPage(page, sections));
});
