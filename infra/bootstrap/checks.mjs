import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { withColorSetting } from './color.mjs';
import { showProgress } from './progress.mjs';
import { COMMANDS, ROOT, run, runQuietly, workspaceEnvironment } from './root.mjs';

/** Folders whose imports are checked; the same as in `npm run check`. */
const FOLDERS = ['libs', 'services', 'fake-apiserver', 'demo', 'infra', 'bench', 'chaos', 'conformance', 'tests'];

/** Checks types three times as fast as the version that offers an API, which other checks need. */
const TYPESCRIPT = 'node_modules/typescript-7/bin/tsc';

/** Each counts as one check in the summary, next to the tests. The longest come first. */
const CHECKS = [
  { name: 'types', command: ['node', TYPESCRIPT, '-p', '.'] },
  { name: 'lint and format', command: ['biome', 'check', '--diagnostic-level=warn', '.'] },
  { name: 'imports', command: ['depcruise', '--config', '.dependency-cruiser.cjs', ...FOLDERS] },
  { name: 'links and terms', command: ['node', 'infra/docs/check.ts'] },
  { name: 'types of the page', command: ['node', TYPESCRIPT, '-p', 'services/console/page'] },
];
/** Some of them use a single core. */
const CHECKS_AT_ONCE = 2;

/** Runs all checks, and the unit tests if they pass. Returns the exit status of the first failure. */
export async function runTests(args) {
  const { failed, status: failure } = await runChecks();
  if (failed.length > 0) {
    note(`failed: ${failed.join(', ')}; the unit tests did not run`);
    return conclude({ passed: CHECKS.length - failed.length, failed: failed.length, skipped: 0 }, failure);
  }
  const { count, status } = await vitest('2/2 unit tests', 'unit', 'dot', args);
  note(`${CHECKS.length} checks (${CHECKS.map(({ name }) => name).join(', ')}) count as one each`);
  return conclude({ ...count, passed: count.passed + CHECKS.length }, status);
}

/** Runs the checks, a few at a time. Returns the names of those that failed and the exit status of the first. */
async function runChecks() {
  note(`1/2 checks: ${CHECKS.map(({ name }) => name).join(', ')}`);
  const stop = showProgress(process.stdout, '  checks');
  const waiting = [...CHECKS];
  const failures = [];
  const work = async () => {
    for (let check = waiting.shift(); check !== undefined; check = waiting.shift()) {
      const { status, output } = await runCheck(check);
      if (status !== 0) failures.push({ name: check.name, status, output });
    }
  };
  await Promise.all(Array.from({ length: CHECKS_AT_ONCE }, work)).finally(stop);
  for (const { name, output } of failures) {
    note(name);
    process.stdout.write(output);
  }
  return { failed: failures.map(({ name }) => name), status: failures[0]?.status ?? 0 };
}

function runCheck({ command: [command, ...args] }) {
  return runQuietly(join(COMMANDS, command), args, { env: environment({ piped: true }) });
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
