import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { UsageError } from '@sluice/platform/process';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { checkOutEarlier } from './earlier-checkout.ts';

let clone: string;
const git = (...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.org', ...args], {
    cwd: clone,
    encoding: 'utf8',
  });

beforeEach(() => {
  clone = mkdtempSync(join(tmpdir(), 'sluice-clone-'));
  git('init', '--quiet');
  mkdirSync(join(clone, 'infra/bootstrap'), { recursive: true });
});

afterEach(() => rmSync(clone, { recursive: true }));

function commit(setup: string): string {
  writeFileSync(join(clone, 'infra/bootstrap/run.mjs'), setup);
  git('add', '.');
  git('commit', '--quiet', '--message', 'earlier');
  return git('rev-parse', 'HEAD').trim();
}

test('sets a commit up in a directory of its own and deletes it again', () => {
  const hash = commit("import { writeFileSync } from 'node:fs';\nwriteFileSync('packages', process.argv[2]);\n");
  commit('process.exit(1);\n');
  const earlier = checkOutEarlier('HEAD~1', clone);
  expect(earlier.commit).toBe(hash);
  expect(existsSync(join(earlier.directory, 'packages'))).toBe(true);
  earlier.remove();
  expect(existsSync(earlier.directory)).toBe(false);
  expect(git('worktree', 'list').trim().split('\n')).toHaveLength(1);
});

test('leaves nothing behind if the packages cannot be installed', () => {
  commit("process.stderr.write('no network');\nprocess.exit(1);\n");
  expect(() => checkOutEarlier('HEAD', clone)).toThrow(/^cannot check out [0-9a-f]{40}: no network$/);
  expect(git('worktree', 'list').trim().split('\n')).toHaveLength(1);
});

test.each(['4711471147114711471147114711471147114711', '--help', 'no\u001b[2Jne'])(
  'says that the clone lacks %j',
  (from) => {
    commit('');
    expect(() => checkOutEarlier(from, clone)).toThrow(UsageError);
    expect(() => checkOutEarlier(from, clone)).toThrow(/^--from: this clone has no commit [ -~]*; fetch the history/);
  },
);
