import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { withColorSetting } from './color.mjs';
import { showProgress } from './progress.mjs';
import { COMMANDS, ROOT, run, runQuietly, workspaceEnvironment } from './root.mjs';

/** Folders whose imports are checked; the same as in `npm run check`. */
const FOLDERS = ['libs', 'services', 'fake-apiserver', 'demo', 'infra', 'bench', 'chaos', 'conformance', 'tests'];

/** Each counts as one check in the summary, next to the tests. */
const CHECKS = [
  { name: 'lint and format', command: ['biome', 'check', '--diagnostic-level=warn', '.'] },
  { name: 'types', command: ['tsc', '-p', '.'] },
  { name: 'types of the page', command: ['tsc', '-p', 'services/console/page'] },
  { name: 'imports', command: ['depcruise', '--config', '.dependency-cruiser.cjs', ...FOLDERS] },
  { name: 'links and terms', command: ['node', 'infra/docs/check.ts'] },
];

/** Runs lint, types, imports, docs and unit tests. Stops at the first failure and returns its exit status. */
export async function runTests(args) {
  for (const [done, check] of CHECKS.entries()) {
    const status = await runCheck(`${done + 1}/${CHECKS.length + 1}`, check);
    if (status === 0) continue;
    const left = CHECKS.length - done - 1;
    note(`${check.name} failed; not run: ${left > 0 ? `${left} more checks and ` : ''}the unit tests`);
    return conclude({ passed: done, failed: 1, skipped: left }, status);
  }
  const { count, status } = await vitest(`${CHECKS.length + 1}/${CHECKS.length + 1} unit tests`, 'unit', 'dot', args);
  note(`${CHECKS.length} checks (${CHECKS.map(({ name }) => name).join(', ')}) count as one each`);
  return conclude({ ...count, passed: count.passed + CHECKS.length }, status);
}

/** Runs the integration tests, which need a real control plane; builds it first if necessary. */
export async function runIntegration(args) {
  const built = await step('1/2 control plane', ['node', 'infra/local/src/cli.ts', 'build']);
  if (built !== 0) {
    note('the control plane could not be built; no integration test ran');
    return conclude({ passed: 0, failed: 1, skipped: 0 }, built);
  }
  const { count, status } = await vitest('2/2 integration tests', 'integration', 'default', args);
  return conclude(count, status);
}

async function vitest(title, project, reporter, args) {
  const results = join(ROOT, '.cache', `${project}-results.json`);
  mkdirSync(join(ROOT, '.cache'), { recursive: true });
  rmSync(results, { force: true });
  const reporters = [`--reporter=${reporter}`, '--reporter=json', `--outputFile.json=${results}`];
  const status = await step(title, ['vitest', 'run', '--project', project, ...reporters, ...args]);
  return { count: tally(results, status), status };
}

/** Counts the results that vitest wrote. A file that cannot be loaded counts as one failure. */
function tally(file, status) {
  const count = { passed: 0, failed: 0, skipped: 0 };
  const results = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).testResults : [];
  for (const { status: outcome, assertionResults } of results) {
    const failedBefore = count.failed;
    for (const test of assertionResults) {
      if (test.status === 'passed') count.passed += 1;
      else if (test.status === 'failed') count.failed += 1;
      else count.skipped += 1;
    }
    if (outcome === 'failed' && count.failed === failedBefore) count.failed += 1;
  }
  // An unhandled error, or a run without tests, fails without a failed test.
  if (status !== 0 && count.failed === 0) count.failed = 1;
  return count;
}

/** Prints what a check prints when it ends, because these tools print nothing while they work. */
async function runCheck(number, { name, command: [command, ...args] }) {
  note(`${number} ${name}`);
  const stop = showProgress(process.stdout, `  ${name}`);
  const { status, output } = await runQuietly(join(COMMANDS, command), args, {
    env: environment({ piped: true }),
  }).finally(stop);
  process.stdout.write(output);
  return status;
}

function step(title, [command, ...args]) {
  note(title);
  return run(join(COMMANDS, command), args, { env: environment({ piped: false }) });
}

function environment({ piped }) {
  return withColorSetting(workspaceEnvironment(), { terminal: process.stdout.isTTY === true, piped });
}

function note(text) {
  process.stdout.write(`— ${text}\n`);
}

function conclude({ passed, failed, skipped }, status) {
  process.stdout.write(`${passed} passed, ${failed} failed, ${skipped} skipped\n`);
  return status;
}
