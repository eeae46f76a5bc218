import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { exitStatus, exitStatusMeanings } from './exit-status.ts';

const root = join(import.meta.dirname, '../../..');

test('docs/reference/cli.md has the table of all exit statuses', () => {
  const rows = readFileSync(join(root, 'docs/reference/cli.md'), 'utf8')
    .split('\n')
    .map((line) => /^\| (\d+) +\| (.*?) +\|$/.exec(line))
    .flatMap((row) => (row === null ? [] : [{ status: Number(row[1]), meaning: row[2] }]));
  const names = Object.keys(exitStatus) as (keyof typeof exitStatus)[];
  expect(rows).toEqual(names.map((name) => ({ status: exitStatus[name], meaning: exitStatusMeanings[name] })));
});

test('the program sets no other exit status', () => {
  const literal = /process\.exit\((?=[^)])(?!.*exitStatus)|process\.exitCode (?:\|\|)?= (?!exitStatus|isUsageError)/;
  const setting = /process\.exit(?:\((?=[^)])|Code (?:\|\|)?= )/;
  const files = globSync('{libs,services}/*/src/**/*.ts', { cwd: root }).filter((file) => !file.endsWith('.test.ts'));
  const lines = files.flatMap((file) =>
    readFileSync(join(root, file), 'utf8')
      .split('\n')
      .map((line) => `${file}: ${line.trim()}`),
  );
  expect(lines.filter((line) => setting.test(line)).length).toBeGreaterThan(5);
  expect(lines.filter((line) => literal.test(line))).toEqual([]);
});
