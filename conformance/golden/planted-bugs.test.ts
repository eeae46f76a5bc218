import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { plantedBugs } from './planted-bugs.ts';

const hook = new URL('./plant-hook.ts', import.meta.url).href;
const run = join(import.meta.dirname, '../run.ts');
/** Those written by hand. All of them pass without a bug (play.test.ts). */
const scenarios = ['endpoints/samples', 'endpointslice/samples', 'endpointslice/samplequirks', 'mirroring/samples'];

function failuresOf(bug: string): { readonly status: number | null; readonly failed: number } {
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    ['--import', hook, run, '--as-shipped', ...scenarios],
    {
      env: { ...process.env, CONFORMANCE_PLANTED_BUG: bug },
      encoding: 'utf8',
    },
  );
  const failed = /^\d+ passed, (\d+) failed, 0 skipped$/m.exec(stdout)?.[1];
  if (failed === undefined) throw new Error(`${stdout}\n${stderr}`);
  return { status, failed: Number(failed) };
}

test.each(plantedBugs.map(({ name }) => name))('it fails if %s', (bug) => {
  const { status, failed } = failuresOf(bug);
  expect(status).toBe(1);
  expect(failed).toBeGreaterThan(0);
});
