import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { planted } from '@sluice/program/planted-bug';
import { afterAll, describe, expect, test } from 'vitest';
import { plantedBugs } from '../planted/planted-bugs.ts';
import { scenarioOf } from '../scenario.ts';
import { directory, regressionsIn, replay } from './regression.ts';

const temporary = mkdtempSync(join(tmpdir(), 'sluice-regressions-'));
afterAll(() => rmSync(temporary, { recursive: true }));

const known = regressionsIn(directory);

test.each(known.map((path) => [basename(path), path] as const))('%s stays corrected', async (_, path) => {
  expect((await replay(path)).violations).toEqual([]);
});

describe('a search on code with a bug', () => {
  const bug = plantedBugs.find(({ name }) => name === 'Pods lose their zone');
  if (bug === undefined) throw new Error('there is no such bug');
  const { execArgv, environment } = planted(bug);
  const main = join(import.meta.dirname, '../main.ts');
  const simulate = (...options: readonly string[]) =>
    spawnSync(process.execPath, [...execArgv, main, '--processes', '1', ...options], {
      env: { ...process.env, ...environment },
      encoding: 'utf8',
    });

  test('saves a shrunk regression, which fails with the bug and passes without', async () => {
    const { status, stdout, stderr } = simulate('--search', '--seeds', '3', '--regressions', temporary);
    expect(stdout).toMatch(/^\d passed, [1-3] failed, 0 skipped$/m);
    expect(status).toBe(1);

    const paths = regressionsIn(temporary);
    const [path = ''] = paths;
    const { invariant, commit, command, scenario } = JSON.parse(readFileSync(path, 'utf8'));
    expect(basename(path, `-${scenario.seed}.json`)).toBe(invariant.replaceAll(' ', '-').toLowerCase());
    expect(commit).toMatch(/^[0-9a-f]{40}$/);
    expect(command).toMatch(/^npm run simulate -- --seed [1-3] --trace$/);
    expect(scenario.events.length).toBeLessThan(scenarioOf(scenario.seed, { swarm: false }).events.length / 2);
    // What a person reads in the log of the night.
    for (const text of [path, commit, command, `shrunk to ${scenario.events.length} events`])
      expect(stderr).toContain(text);

    const replayed = simulate('--replay', path);
    expect(replayed.stdout).toContain('0 passed, 1 failed, 0 skipped');
    expect(replayed.stderr).toContain(invariant);
    expect((await replay(path)).violations).toEqual([]);
  });
});

test('a regression that lacks a field of scenarios is not run', async () => {
  const path = join(temporary, 'old.txt');
  writeFileSync(path, JSON.stringify({ scenario: { seed: 1 }, boundMs: 1, command: 'npm run simulate -- --seed 1' }));
  await expect(replay(path)).rejects.toThrow('add it, or find the failure again: npm run simulate -- --seed 1');
});
