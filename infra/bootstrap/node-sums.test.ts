import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const modules = join(import.meta.dirname, '../../node_modules/node');
const { version } = JSON.parse(readFileSync(join(modules, 'package.json'), 'utf8')) as { readonly version: string };
const installed = join(modules, 'bin/node');
const platform = `${process.platform}-${process.arch}`;

const problemOf = (...args: readonly string[]) => {
  const program = join(import.meta.dirname, 'node-sums.mjs');
  const { status, stderr } = spawnSync(process.execPath, [program, ...args], { encoding: 'utf8' });
  return { status, stderr };
};

test('the installed Node is the pinned one', () => {
  expect(problemOf(platform, version, installed)).toEqual({ status: 0, stderr: '' });
});

test.each([
  [
    'changed',
    platform,
    version,
    join(modules, 'package.json'),
    /is [0-9a-f]{64} instead of [0-9a-f]{64}; do not run it$/m,
  ],
  ['of another version', platform, '24.0.0', installed, /pins Node [\d.]+, not 24\.0\.0$/m],
  ['of another platform', 'plan9-x64', version, installed, /pins no Node for plan9-x64$/m],
])('rejects a Node that is %s', (_, of, given, file, problem) => {
  expect(problemOf(of, given, file)).toEqual({ status: 1, stderr: expect.stringMatching(problem) });
});
