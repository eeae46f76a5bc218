import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';

const folder = mkdtempSync(join(tmpdir(), 'sluice-json-parse-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** A program in place of Node that prints a version, and runs the command instead of the texts. */
function nodeThat(command: string): string {
  const file = join(folder, 'node');
  writeFileSync(file, `#!/bin/sh\n[ "$1" = -p ] && echo v0.0.0 && exit\necho '{ (plain)'\n${command}\n`, {
    mode: 0o755,
  });
  return file;
}

function check(...args: readonly string[]) {
  const program = join(import.meta.dirname, 'json-parse-check.mjs');
  const { status, stdout } = spawnSync(process.execPath, [program, ...args], { encoding: 'utf8' });
  return { status, stdout };
}

test('the pinned Node survives malformed JSON that is thousands of levels deep', () => {
  const stdout = `Node ${process.version}, V8 ${process.versions.v8}: rejects every text\n1 passed, 0 failed, 0 skipped\n`;
  expect(check()).toEqual({ status: 0, stdout });
});

test.each([
  ['crashes', 'kill -SEGV $$', 'SIGSEGV'],
  ['reads other values', "echo 'Error: reads other values afterwards' >&2; exit 1", 'reads other values afterwards'],
])('reports a Node that %s', (_, command, reason) => {
  const line = `Node v0.0.0: ${reason} at { (plain)\n`;
  const node = nodeThat(command);
  expect(check(node)).toEqual({ status: 1, stdout: `${line}0 passed, 1 failed, 0 skipped\n` });
  expect(check('--expect-crash', node)).toEqual({ status: 0, stdout: `${line}1 passed, 0 failed, 0 skipped\n` });
});

test('reports a Node that was expected to crash and does not', () => {
  const stdout = 'Node v0.0.0: rejects every text\n0 passed, 1 failed, 0 skipped\n';
  expect(check('--expect-crash', nodeThat('exit 0'))).toEqual({ status: 1, stdout });
});
