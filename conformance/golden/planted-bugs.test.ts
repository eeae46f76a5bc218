import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { type PlantedBug, planted } from '@sluice/program/planted-bug';
import { expect, test } from 'vitest';
import { plantedBugs } from './planted-bugs.ts';

const run = join(import.meta.dirname, '../run.ts');
/** Those written by hand. All of them pass without a bug (play.test.ts). */
const scenarios = ['endpoints/samples', 'endpointslice/samples', 'endpointslice/samplequirks', 'mirroring/samples'];

function failuresOf(bug: PlantedBug): { readonly status: number | null; readonly failed: number } {
  const { execArgv, environment } = planted(bug);
  const { stdout, stderr, status } = spawnSync(process.execPath, [...execArgv, run, '--as-shipped', ...scenarios], {
    env: { ...process.env, ...environment },
    encoding: 'utf8',
  });
  const failed = /^\d+ passed, (\d+) failed, 0 skipped$/m.exec(stdout)?.[1];
  if (failed === undefined) throw new Error(`${stdout}\n${stderr}`);
  return { status, failed: Number(failed) };
}

test.each(plantedBugs.map((bug) => [bug.name, bug] as const))('it fails if %s', (_, bug) => {
  const { status, failed } = failuresOf(bug);
  expect(status).toBe(1);
  expect(failed).toBeGreaterThan(0);
});
