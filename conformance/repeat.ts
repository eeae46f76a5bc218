/** Runs the contract suites of bus and store and the loss tests repeatedly with different seeds. See `--help`. */

import { UsageError } from '@sluice/platform/process';
import { count, parseCommandLine, runProgram, say } from '@sluice/program';
import { repeatedSuites } from './repeated-suites.ts';
import { runSuites } from './run-suites.ts';

const HELP = `usage: node conformance/repeat.ts [--seed N] [ROUNDS]      (or: npm run repeat -- ...)

Runs the contract suites of bus and store and the loss tests, in memory and on real servers, in 20 or ROUNDS rounds with
different seeds. Prints one line per round and the total. Stops at the first failure and prints its output and the command
to repeat it.

  --seed N  seed of the first round (1)

Exit status: 1 if a round failed, 2 for a usage error.
`;

/** Seeds for each kind of loss in each round. */
const lossSeeds = 8;

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
  const total = { passed: 0, failed: 0 };
  const conclude = () => void process.stdout.write(`${total.passed} passed, ${total.failed} failed, 0 skipped\n`);
  for (let round = 1; round <= rounds; round++) {
    const seed = first + round - 1;
    const startedAt = performance.now();
    const seeds = {
      FIRST_SEED: String((seed - 1) * lossSeeds + 1),
      SEEDS: String(lossSeeds),
      SEED: String(seed),
    };
    const results = await Promise.all(
      Object.entries(repeatedSuites).map(async ([name, suites]) => {
        const result = await runSuites(suites, seeds);
        say(`  ${name}: ${result.passed} passed, ${result.failed} failed`);
        return result;
      }),
    );
    const sum = (of: 'passed' | 'failed') => results.reduce((total, one) => total + one[of], 0);
    const seconds = Math.round((performance.now() - startedAt) / 1000);
    process.stdout.write(
      `round ${round} of ${rounds}: ${sum('passed')} passed, ${sum('failed')} failed, ${seconds} s, seed ${seed}\n`,
    );
    total.passed += sum('passed');
    total.failed += sum('failed');
    if (sum('failed') === 0) continue;
    for (const { failed, output } of results) if (failed > 0) process.stdout.write(`\n${output}\n`);
    process.stdout.write(`to repeat: npm run repeat -- --seed ${seed} 1\n`);
    conclude();
    return 1;
  }
  conclude();
  return 0;
}

await runProgram(main);
