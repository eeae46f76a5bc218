import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { version } from '@sluice/platform/process';
import { load } from 'js-yaml';
import { expect, test } from 'vitest';
import { changelogEntries, changelogProblems } from './changelog.ts';

const root = join(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');

test('CHANGELOG.md describes the version of this checkout', () => {
  expect(changelogProblems(read('CHANGELOG.md'), version)).toEqual([]);
});

test('package, program and chart have one version', () => {
  const manifest: unknown = JSON.parse(read('package.json'));
  expect(manifest).toMatchObject({ version });
  expect(load(read('infra/helm/Chart.yaml'))).toMatchObject({ version, appVersion: version });
});

const entry = (heading: string, category = 'Added') => `## ${heading}\n\n### ${category}\n\n- It.\n\n`;

test('entries have a version, a date and categories', () => {
  expect(
    changelogEntries(`# Changelog\n\n${entry('1.1.0 - unreleased')}${entry('1.0.0 - 2026-01-02', 'Fixed')}`),
  ).toEqual([
    { version: '1.1.0', date: 'unreleased', categories: ['Added'] },
    { version: '1.0.0', date: '2026-01-02', categories: ['Fixed'] },
  ]);
});

test.each([
  [entry('1.0.0 - 2026-01-02'), '1.0.1', 'the first entry is 1.0.0, but the version is 1.0.1'],
  ['', '1.0.0', 'the first entry is missing, but the version is 1.0.0'],
  [entry('1.0 - 2026-01-02'), '1.0', '"1.0" is not a semantic version'],
  [entry('1.0.0'), '1.0.0', '1.0.0 has no date'],
  [entry('1.0.0 - 2026-01-02', 'News'), '1.0.0', '1.0.0: "News" is none of'],
  ['## 1.0.0 - 2026-01-02\n', '1.0.0', '1.0.0 lists no changes'],
  [
    `${entry('1.1.0 - 2026-01-02')}${entry('1.0.0 - unreleased')}`,
    '1.1.0',
    '1.0.0 is unreleased below a newer version',
  ],
])('%j is rejected', (text, wanted, problem) => {
  expect(changelogProblems(text, wanted)).toEqual([expect.stringContaining(problem)]);
});
