import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

// Node resolves named exports of CommonJS packages more strictly than Vitest and the bundler do.
test('every command loads in plain Node from sources', async () => {
  const main = fileURLToPath(new URL('main.ts', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [main, 'completion', 'bash']);
  expect(stdout).toContain('history');
});

test('a report of shadow mode that cannot be written is an error before anything is compared', async () => {
  const main = fileURLToPath(new URL('main.ts', import.meta.url));
  const args = ['run', '--shadow', '--in-cluster', '--shadow-report', '/does/not/exist/report.json'];
  const run = promisify(execFile)(process.execPath, [main, ...args]);
  await expect(run).rejects.toMatchObject({ code: 2, stderr: expect.stringContaining('--shadow-report: ENOENT') });
});

test('a dry run is shadow mode, so it never takes the place of a controller', async () => {
  const main = fileURLToPath(new URL('main.ts', import.meta.url));
  const run = promisify(execFile)(process.execPath, [main, 'run', '--dry-run', '--in-cluster', '--namespaces', 'a']);
  await expect(run).rejects.toMatchObject({
    code: 2,
    stderr: expect.stringContaining('require a cluster that Sluice writes to'),
  });
});
