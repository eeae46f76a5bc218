import { readFileSync } from 'node:fs';
import { plant, urlOf } from '@sluice/program/planted-bug';
import { expect, test } from 'vitest';
import { heldOutBugs } from './held-out/held-out-bugs.ts';
import { missedBugs, plantedBugs } from './planted-bugs.ts';

const bugs = [...plantedBugs, ...heldOutBugs];

test.each(bugs.map((bug) => [bug.name, bug] as const))('"%s" fits its source', (_, bug) => {
  const source = readFileSync(new URL(urlOf(bug)), 'utf8');
  expect(plant(bug, source)).not.toBe(source);
});

test('no two bugs have the same name', () => {
  expect(new Set(bugs.map(({ name }) => name)).size).toBe(bugs.length);
});

test('a bug that no longer fits names its file', () => {
  const bug = { name: 'b', file: 'f.ts', search: 'x', replace: 'y' };
  expect(() => plant(bug, 'a')).toThrow('planted bug "b": its text occurs 0 times in f.ts');
});

test('the page about the simulation names no bug and no file that is gone', () => {
  const page = readFileSync(new URL('../../../docs/contributing/simulation.md', import.meta.url), 'utf8');
  const known = bugs.map(({ name, file }) => `${name} in ${file.replace('/src/', '/')}`);
  const rows = [...page.matchAll(/^\| (\S.*?) +\| ((?:libs|services)\/\S+) +\| +\d+ +\|/gm)].map(
    ([, name = '', file = '']) => `${name} in ${file}`,
  );
  expect(rows.filter((row) => !known.includes(row))).toEqual([]);
  expect(rows.map((row) => row.split(' in ').slice(0, -1).join(' in '))).toEqual(missedBugs);
});

test('the recorded results are those of the held-out bugs', () => {
  const results = new URL('./held-out/results.json', import.meta.url);
  const { bugs: measured } = JSON.parse(readFileSync(results, 'utf8')) as { bugs: { name: string; file: string }[] };
  expect(measured.map(({ name }) => name)).toEqual(heldOutBugs.map(({ name }) => name));
});
