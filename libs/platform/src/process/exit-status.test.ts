import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { exitStatus } from './exit-status.ts';

const root = join(import.meta.dirname, '../../../..');

test('docs/reference/cli.md has the table of all exit statuses', () => {
  const rows = readFileSync(join(root, 'docs/reference/cli.md'), 'utf8').matchAll(/^\| (\d+) +\| \S/gm);
  expect([...rows].map(([, status]) => Number(status))).toEqual(Object.values(exitStatus));
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
