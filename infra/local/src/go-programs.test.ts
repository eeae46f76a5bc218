import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ensureGoPrograms } from './go-programs.ts';

let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'sluice-go-programs-'));
  mkdirSync(join(root, 'bin'));
  mkdirSync(join(root, 'module'));
  for (const file of ['go.mod', 'go.sum']) writeFileSync(join(root, 'module', file), '');
  vi.stubEnv('XDG_CACHE_HOME', join(root, 'cache'));
  vi.stubEnv('PATH', `${join(root, 'bin')}:${process.env.PATH}`);
});

afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(root, { recursive: true, force: true });
});

/** A `go` whose builds take a moment, count themselves and then run these commands, with the output folder in $output. */
function fakeGo(build: string): void {
  const script = `#!/bin/sh
[ "$1" = build ] || exit 0
for word; do case "$word" in */) output="$word";; esac; done
echo build >> ${join(root, 'builds')}
sleep 0.1
${build}
`;
  writeFileSync(join(root, 'bin', 'go'), script);
  chmodSync(join(root, 'bin', 'go'), 0o755);
}

const builds = () => readFileSync(join(root, 'builds'), 'utf8').trim().split('\n').length;

const ensure = () =>
  ensureGoPrograms(
    {
      ...{ title: 'a server', maxBuildTime: '1 minute', module: join(root, 'module'), packages: ['tool'] },
      ...{ version: 'v1', linkerFlags: '' },
    },
    () => {},
  );

test('servers that start together share one build, and later ones find it', async () => {
  fakeGo(': > "$output/server"');
  const directories = await Promise.all([ensure(), ensure()]);
  expect(new Set([...directories, await ensure()]).size).toBe(1);
  expect(existsSync(join(directories[0] ?? '', 'server'))).toBe(true);
  expect(builds()).toBe(1);
});

test('a build that fails is reported with its output, and tried again', async () => {
  fakeGo('echo "no such package"; exit 1');
  await expect(ensure()).rejects.toThrow(/cannot build a server:[\s\S]*no such package/);
  await expect(ensure()).rejects.toThrow('no such package');
  expect(builds()).toBe(2);
});
