import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');

test('what the program prints passes through print, or is redrawn by the platform, which escapes it', () => {
  const files = globSync('{libs,services}/*/src/**/*.ts', { cwd: root });
  const writing = files.filter(
    (file) =>
      !/\.test\.ts$|\/testing\//.test(file) &&
      /\bstd(?:out|err)\??\.write\(|\bconsole\.(?:log|error|warn|info)\(/.test(readFileSync(join(root, file), 'utf8')),
  );
  expect(files.length).toBeGreaterThan(500);
  expect(writing).toEqual([]);
});
