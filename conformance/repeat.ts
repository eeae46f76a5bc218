/**
 * node conformance/repeat.ts [--seed N] [ROUNDS]      (or: npm run repeat -- ROUNDS)
 *
 * Plays the contract suites of bus and store and the loss cases, on memory and on real servers, so many times in a row
 * (20), each round with other seeds. Prints a line per round; stops at the first that fails, with what it printed and the
 * seed that plays it again. The exit status is 0, 1 if a round failed, 2 for wrong usage.
 */
import { spawn } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const root = join(import.meta.dirname, '..');
const suites = {
  unit: [
    'conformance/memory.test.ts',
    'services/sluice/src/losses.test.ts',
    'services/sluice/src/crash.test.ts',
    'services/sluice/src/wrong-views.test.ts',
  ],
  integration: globSync(['conformance/*.int.test.ts', 'services/sluice/src/distributed/*.int.test.ts'], { cwd: root }),
} as const;

/** Of each kind of loss, in each round. */
const lossSeeds = 8;

interface Played {
  readonly passed: number;
  readonly failed: number;
  readonly output: string;
}

interface VitestResults {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
}

function usage(problem: string): never {
  process.stderr.write(`error: ${problem}\nusage: npm run repeat -- [--seed N] [ROUNDS]\n`);
  process.exit(2);
}

function whole(what: string, text: string): number {
  const value = Number(text);
  return Number.isInteger(value) && value > 0 ? value : usage(`${what}: "${text}" is not a whole number above zero`);
}

function given(): { readonly rounds: number; readonly seed: number } {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: { seed: { type: 'string', default: '1' } },
    });
    if (positionals.length > 1) usage(`"${positionals[1]}" is one argument too many`);
    return { rounds: whole('ROUNDS', positionals[0] ?? '20'), seed: whole('--seed', values.seed) };
  } catch (error) {
    return usage(error instanceof Error ? error.message : String(error));
  }
}

/** One run of vitest; an error beside the tests counts as one that failed. */
async function play(project: keyof typeof suites, seeds: Readonly<Record<string, string>>): Promise<Played> {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-repeat-'));
  const results = join(directory, 'results.json');
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${results}`];
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const child = spawn(process.execPath, [vitest, 'run', '--project', project, ...reporters, ...suites[project]], {
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
  process.stderr.write(`  ${project}: ${counted.numPassedTests} passed, ${failed} failed\n`);
  return { passed: counted.numPassedTests, failed, output };
}

function read(results: string): VitestResults {
  try {
    return JSON.parse(readFileSync(results, 'utf8')) as VitestResults;
  } catch {
    return { numPassedTests: 0, numFailedTests: 0 };
  }
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));

const { rounds, seed: first } = given();
for (let round = 1; round <= rounds; round++) {
  const seed = first + round - 1;
  const startedAt = performance.now();
  const played = [
    await play('unit', { FIRST_SEED: String((seed - 1) * lossSeeds + 1), SEEDS: String(lossSeeds) }),
    await play('integration', { SEED: String(seed) }),
  ];
  const count = (of: 'passed' | 'failed') => played.reduce((sum, one) => sum + one[of], 0);
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  process.stdout.write(
    `round ${round} of ${rounds}: ${count('passed')} passed, ${count('failed')} failed, ${seconds} s, seed ${seed}\n`,
  );
  if (count('failed') === 0) continue;
  for (const { failed, output } of played) if (failed > 0) process.stdout.write(`\n${output}\n`);
  process.stdout.write(`once more: npm run repeat -- --seed ${seed} 1\n`);
  process.exit(1);
}
