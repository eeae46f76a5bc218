/** Runs tests again and again on a busy machine: none may depend on time. The last line counts them. See `--help`. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { integer, runCommand, say, selection, textOr } from '@sluice/program';
import { readResults, type TestCount } from './busy-results.ts';

const root = join(import.meta.dirname, '..');
const minuteMs = 60_000;
/** Ends with its parent, however that ends. */
const burn = `const parent = process.ppid;
while (process.ppid === parent) for (let i = 0; i < 1e8; i++);`;

await runCommand({
  usage: 'npm run test:busy --',
  about: `Runs test files several times while processes burn the CPU, and prints what failed in each run. Integration tests need what
\`npm run test:integration\` needs.
`,
  options: {
    times: integer(5, 'number of runs of each project'),
    burners: integer(2, 'processes that burn the CPU'),
    projects: selection(['unit', 'integration'], 'projects of vitest.config.ts'),
    paths: textOr('', 'LIST', 'parts of the paths of test files, separated by commas; all by default'),
  },
  async main({ times, burners, projects, paths }) {
    const directory = mkdtempSync(join(tmpdir(), 'sluice-busy-'));
    const burning = Array.from({ length: burners }, () => spawn(process.execPath, ['-e', burn], { stdio: 'ignore' }));
    const total = { passed: 0, failed: 0, skipped: 0 };
    try {
      for (const project of projects) {
        for (let run = 1; run <= times; run++) {
          const file = join(directory, `${project}-${run}.json`);
          let minutes = 0;
          const progress = setInterval(
            () => say(`${project}, run ${run} of ${times}: running for ${++minutes} min`),
            minuteMs,
          );
          const count = await runTests(project, paths.split(',').filter(Boolean), file);
          clearInterval(progress);
          say(
            `${project}, run ${run}: ${count.passed} passed, ${count.failures.length} failed, ${count.skipped} skipped`,
          );
          for (const failure of count.failures) say(`  ${failure}`);
          total.passed += count.passed;
          total.failed += count.failures.length;
          total.skipped += count.skipped;
        }
      }
    } finally {
      for (const child of burning) child.kill('SIGKILL');
      rmSync(directory, { recursive: true });
    }
    process.stdout.write(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped\n`);
    return total.failed > 0 ? 1 : 0;
  },
});

async function runTests(project: string, paths: readonly string[], file: string): Promise<TestCount> {
  const reporters = ['--reporter=json', `--outputFile.json=${file}`];
  const args = [join(root, 'node_modules/vitest/vitest.mjs'), 'run', '--project', project, ...reporters, ...paths];
  const vitest: ChildProcess = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] });
  const [status] = await once(vitest, 'close');
  return readResults(() => readFileSync(file, 'utf8'), status === 0);
}
