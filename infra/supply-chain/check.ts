/**
 * Checks every package of the lock file for its license and for known vulnerabilities, and lists the licenses. The last
 * line counts both checks; a check that cannot run, because the registry answers no audit requests, counts as skipped.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runProgram, say } from '@sluice/program';
import { judgeAudit } from './advisories.ts';
import { disallowed, type LicensedPackages } from './licenses.ts';

const root = join(import.meta.dirname, '../..');

type Result = 'passed' | 'failed' | 'skipped';

const { packageManager }: { readonly packageManager: string } = JSON.parse(
  readFileSync(join(root, 'package.json'), 'utf8'),
);

function pnpm(...args: string[]) {
  return spawnSync('npx', ['--yes', packageManager, ...args], { cwd: root, encoding: 'utf8' });
}

function checkLicenses(): Result {
  const { status, stdout, stderr } = pnpm('--recursive', 'licenses', 'list', '--json');
  if (status !== 0) {
    say(`licenses: failed: ${stderr.trim()}`);
    return 'failed';
  }
  const packages: LicensedPackages = JSON.parse(stdout);
  for (const [license, found] of Object.entries(packages)) {
    const names = found.flatMap(({ name, versions }) => versions.map((version) => `${name}@${version}`));
    process.stdout.write(`${license}: ${names.join(', ')}\n`);
  }
  const findings = disallowed(packages);
  for (const finding of findings) say(`licenses: not allowed: ${finding}`);
  return findings.length > 0 ? 'failed' : 'passed';
}

function checkAdvisories(): Result {
  const found = judgeAudit(pnpm('audit', '--json'));
  if (found.result !== 'passed') say(`advisories: ${found.result}: ${found.reason}`);
  return found.result;
}

await runProgram(() => {
  const results = [checkLicenses(), checkAdvisories()];
  const counted = (result: Result) => results.filter((each) => each === result).length;
  process.stdout.write(`${counted('passed')} passed, ${counted('failed')} failed, ${counted('skipped')} skipped\n`);
  return counted('failed') > 0 ? 1 : 0;
});
