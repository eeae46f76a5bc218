import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

/**
 * docs/reference/parity.md names for each rule that is not in conformance/parity yet the code and a test. This keeps it true: every named file exists, every
 * name occurs in its file, and every test names its rule in its title.
 */

/** Number of rules in each section of the behaviour. */
const sections = { E: 31, F: 14, G: 5, I: 4, J: 5, K: 9, L: 6 };
const notYet = '**not there yet**';
const root = join(import.meta.dirname, '..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const found = (pattern: string): string[] => globSync(pattern, { cwd: root });

interface Row {
  readonly rule: string;
  readonly where: string;
  readonly heldBy: string;
}

const rows: readonly Row[] = read('docs/reference/parity.md')
  .split('\n')
  .filter((line) => /^\| [E-GI-L]\d* /.test(line))
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .map(([, rule = '', , where = '', heldBy = '']) => ({ rule, where, heldBy }));

/** The rules in the first column of the deviations. */
const deviating = new Set(
  read('docs/reference/deviations.md')
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .flatMap((line) => rulesIn(line.split('|')[1] ?? '')),
);

it('lists each rule once', () => {
  const wanted = Object.entries(sections).flatMap(([section, count]) =>
    Array.from({ length: count }, (_, i) => `${section}${i + 1}`),
  );
  expect(rows.map(({ rule }) => rule).filter((rule) => rule !== 'J (table)')).toEqual(wanted);
});

describe.each(rows.filter(({ heldBy }) => heldBy !== notYet))('$rule', ({ rule, where, heldBy }) => {
  it('is implemented in files that exist', () => {
    const files = [...where.matchAll(/`([^`]+\.(?:ts|yaml))`/g)].map(([, file = '']) => theFile(file));
    const code = (files.length > 0 ? files : found('{libs,services}/*/src/**/*.ts')).map(read).join('\n');
    for (const [, name = ''] of where.matchAll(/`(#?[a-z]\w*)`/gi)) expect(code.includes(name), name).toBe(true);
  });

  it('differs if and only if the deviations list it', () => {
    expect(where.includes('differs')).toBe(deviating.has(rule));
  });

  it('is tested by titles that name it', () => {
    const tests = [...heldBy.matchAll(/`([^`]+\.test\.ts)`(?: \(([^)]+)\))?/g)];
    const profiles = /\bV ([a-z, ]+)/.exec(heldBy)?.[1]?.split(',') ?? [];
    expect(tests.length + profiles.length).toBeGreaterThan(0);
    for (const [, file = '', named] of tests) {
      const titles = titlesIn(theFile(file));
      for (const title of named?.split(', ') ?? []) expect(titles, file).toContain(title);
      if (named === undefined) expect(titles.flatMap(rulesIn), file).toContain(rule);
    }
    for (const profile of profiles.map((text) => text.trim()).filter((text) => text !== 'all')) {
      expect(found(`conformance/vectors/settled/*/${profile}.jsonl.gz`), profile).not.toEqual([]);
    }
  });
});

/** The file with this path, or with this name in the folders that the document refers to. */
function theFile(name: string): string {
  const homes = '{libs/*,services/{reconciler,writer,watcher},fake-apiserver}/src/**';
  const files = name.includes('/') ? [name] : found(`${homes}/${name}`).filter((path) => !path.includes('/testing/'));
  expect(files, `files named ${name}`).toHaveLength(1);
  const [file = ''] = files;
  expect(existsSync(join(root, file)), file).toBe(true);
  return file;
}

/** Titles of tests and groups; for recorded functions, the keys of the replay table. */
function titlesIn(path: string): string[] {
  const text = read(path);
  const parameters = /(?:\.\w+(?:<[^(]*>)?\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))?/;
  const titles = text.matchAll(new RegExp(`\\b(?:describe|it|test)${parameters.source}\\(\\s*(['"\`])(.*?)\\1,`, 'gs'));
  const eachTitles = text.matchAll(/\](?: as const)?,?\s*\)\(\s*(['"`])(.*?)\1,/gs);
  const functions = path.endsWith('functions.test.ts') ? text.matchAll(/^ {2}(\w+): \(/gm) : [];
  return [...titles, ...eachTitles]
    .map(([, , title = '']) => title)
    .concat([...functions].map(([, name = '']) => name));
}

/** The rules that a title names, with ranges such as E19–E21 expanded. */
function rulesIn(title: string): string[] {
  return [...title.matchAll(/\b([A-L])(\d+)(?:–[A-L]?(\d+))?/g)].flatMap(([, section = '', from, to = from]) =>
    Array.from({ length: Number(to) - Number(from) + 1 }, (_, i) => `${section}${Number(from) + i}`),
  );
}
