/** Runs the contract suites of bus and store and the loss tests repeatedly with different seeds. See `--help`. */

import { spawn } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { UsageError } from '@sluice/process';
import { count, parseCommandLine, runProgram, say } from '@sluice/program';
import { type RepeatedSuites, repeatedSuites } from './repeated-suites.ts';

const HELP = `usage: node conformance/repeat.ts [--seed N] [ROUNDS]      (or: npm run repeat -- ...)

Runs the contract suites of bus and store and the loss tests, in memory and on real servers, in 20 or ROUNDS rounds with
different seeds. Prints one line per round. Stops at the first failure and prints its output and the command to repeat it.

  --seed N  seed of the first round (1)

Exit status: 1 if a round failed, 2 for a usage error.
`;

const root = join(import.meta.dirname, '..');
/** Seeds for each kind of loss in each round. */
const lossSeeds = 8;

interface Result {
  readonly passed: number;
  readonly failed: number;
  readonly output: string;
}

interface VitestResults {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
}

/** Runs vitest once. An error outside of tests counts as one failed test. */
async function runSuites(
  name: string,
  seeds: Readonly<Record<string, string>>,
  suites: RepeatedSuites,
): Promise<Result> {
  const { project, patterns } = suites;
  const files = patterns.flatMap((pattern) => globSync(pattern, { cwd: root }));
  const directory = mkdtempSync(join(tmpdir(), 'sluice-repeat-'));
  const results = join(directory, 'results.json');
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${results}`];
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const child = spawn(process.execPath, [vitest, 'run', '--project', project, ...reporters, ...files], {
    cwd: root,
    env: { ...process.env, ...seeds, NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const stop = () => void child.kill('SIGKILL');
  process.once('exit', stop);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const status = await new Promise((resolve) => child.once('close', resolve));
  process.off('exit', stop);
  const counted = read(results);
  rmSync(directory, { recursive: true, force: true });
  const failed = status === 0 ? 0 : Math.max(1, counted.numFailedTests);
  say(`  ${name}: ${counted.numPassedTests} passed, ${failed} failed`);
  return { passed: counted.numPassedTests, failed, output };
}

function read(results: string): VitestResults {
  try {
    return JSON.parse(readFileSync(results, 'utf8')) as VitestResults;
  } catch {
    return { numPassedTests: 0, numFailedTests: 0 };
  }
}

async function main(): Promise<number> {
  const line = parseCommandLine({ options: { seed: '1' }, positionals: true }, process.argv.slice(2));
  if (line === 'help') {
    process.stdout.write(HELP);
    return 0;
  }
  const [rounds = '20', ...more] = line.positionals;
  if (more.length > 0) throw new UsageError(`unexpected argument "${more.join(' ')}"`);
  return runRounds(count('ROUNDS', rounds), count('seed', line.options.seed));
}

async function runRounds(rounds: number, first: number): Promise<number> {
  for (let round = 1; round <= rounds; round++) {
    const seed = first + round - 1;
    const startedAt = performance.now();
    const seeds = {
      FIRST_SEED: String((seed - 1) * lossSeeds + 1),
      SEEDS: String(lossSeeds),
      SEED: String(seed),
    };
    const results = await Promise.all(
      Object.entries(repeatedSuites).map(([name, suites]) => runSuites(name, seeds, suites)),
    );
    const sum = (of: 'passed' | 'failed') => results.reduce((total, one) => total + one[of], 0);
    const seconds = Math.round((performance.now() - startedAt) / 1000);
    process.stdout.write(
      `round ${round} of ${rounds}: ${sum('passed')} passed, ${sum('failed')} failed, ${seconds} s, seed ${seed}\n`,
    );
    if (sum('failed') === 0) continue;
    for (const { failed, output } of results) if (failed > 0) process.stdout.write(`\n${output}\n`);
    process.stdout.write(`to repeat: npm run repeat -- --seed ${seed} 1\n`);
    return 1;
  }
  return 0;
}

await runProgram(main);
