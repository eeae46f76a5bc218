import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');

/** Files that write to a terminal without `print`, and why. */
const exceptions: Readonly<Record<string, string>> = {
  'services/sluice/src/cli/commands/run-shadow.ts':
    'the page of shadow mode moves the cursor and escapes its own lines',
};

test('what the program prints passes through print', () => {
  const files = globSync('{libs,services}/*/src/**/*.ts', { cwd: root });
  const writing = files.filter(
    (file) =>
      !/\.test\.ts$|\/testing\//.test(file) &&
      /\bstd(?:out|err)\??\.write\(|\bconsole\.(?:log|error|warn|info)\(/.test(readFileSync(join(root, file), 'utf8')),
  );
  expect(files.length).toBeGreaterThan(500);
  expect(writing.sort()).toEqual(Object.keys(exceptions));
});
