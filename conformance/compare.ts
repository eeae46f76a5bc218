/** Compares results of `conformance/replay.ts` with vectors. See `--help`. */
import { UsageError } from '@sluice/process';
import { count, parseCommandLine, runProgram } from '@sluice/program';
import { compareScenario } from './golden/compare-scenario.ts';
import { readLines } from './golden/read-lines.ts';
import { Tally } from './golden/tally.ts';
import type { Result, Vector } from './golden/vector.ts';

const HELP = `usage: node conformance/compare.ts EXPECTED.jsonl[.gz] ACTUAL.jsonl[.gz] [--writes] [--events] [--max N]

Compares results of \`conformance/replay.ts\` with vectors. Prints the passed scenarios per profile and class, and the first
differences of those that fail.

  --writes  also require no more requests per verb than upstream
  --events  also require the same Events in every compared round
  --max N   number of failures to show in detail (10)

Exit status: 1 if a scenario fails, 2 for a usage error.
`;

function main(): number {
  const line = parseCommandLine(
    { options: { writes: false, events: false, max: '10' }, positionals: true },
    process.argv.slice(2),
  );
  if (line === 'help') {
    process.stdout.write(HELP);
    return 0;
  }
  const [expected, actual, ...more] = line.positionals;
  if (expected === undefined || actual === undefined || more.length > 0) {
    throw new UsageError('pass two files: expected and actual results');
  }
  const { writes, events } = line.options;
  const max = count('max', line.options.max);
  const results = new Map(
    readLines(actual)
      .map((text) => JSON.parse(text) as Result)
      .map((result) => [result.name, result]),
  );
  const tally = new Tally();
  let shown = 0;
  for (const text of readLines(expected)) {
    const vector = JSON.parse(text) as Vector;
    const result = results.get(vector.name);
    const differences = result === undefined ? ['no result'] : compareScenario(vector, result, { writes, events });
    tally.add(`${vector.name.split('/')[0]} ${vector.class}`, differences.length === 0);
    if (differences.length === 0 || shown++ >= max) continue;
    console.log(`FAIL ${vector.name}`);
    for (const difference of differences) console.log(`   ${difference}`);
  }
  console.log(tally.table());
  return tally.failed > 0 ? 1 : 0;
}

await runProgram(main);
