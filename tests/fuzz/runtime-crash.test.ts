import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const path = (name: string) => new URL(name, import.meta.url).pathname;

/** V8 14.6 corrupts its heap on this list (ADR 0001), so it is read in another process. */
test('the runtime survives a deeply nested list that is no JSON near its end', async () => {
  const args = ['--expose-gc', path('./repeat-list.ts'), path('./inputs/nested-list.gz')];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  expect(stdout).toBe('rejected 60 times\n');
});
