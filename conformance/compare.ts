/** Compares results of `conformance/replay.ts` with vectors. See `--help`. */
import { UsageError } from '@sluice/platform/process';
import { count, parseCommandLine, runProgram } from '@sluice/program';
import { compareScenario } from './golden/compare-scenario.ts';
import { comparedRounds, isCompared } from './golden/compared-rounds.ts';
import { readLines } from './golden/read-lines.ts';
import { Tally } from './golden/tally.ts';
import type { Result, Vector } from './golden/vector.ts';

const HELP = `usage: node conformance/compare.ts EXPECTED.jsonl[.gz] ACTUAL.jsonl[.gz] [--as-shipped] [--max N]

Compares results of \`conformance/replay.ts\` with vectors. Prints the passed scenarios per profile and class, and the first
differences of those that fail.

  --as-shipped  ACTUAL is from \`replay.ts --as-shipped\`
  --max N       number of failures to show in detail (10)

Exit status: 1 if a scenario fails, 2 for a usage error.
`;

function main(): number {
  const line = parseCommandLine(
    { options: { 'as-shipped': false, max: '10' }, positionals: true },
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
  const resyncs = !line.options['as-shipped'];
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
    const differences = result === undefined ? ['no result'] : compareScenario(vector, result, { resyncs });
    const rounds = comparedRounds(vector, resyncs);
    const omitted = rounds.flatMap((round) => (isCompared(round) ? [] : [round]));
    tally.add(
      `${vector.name.split('/')[0]} ${vector.class}`,
      { omitted, rounds: rounds.length },
      differences.length === 0,
    );
    if (differences.length === 0 || shown++ >= max) continue;
    console.log(`FAIL ${vector.name}`);
    for (const difference of differences) console.log(`   ${difference}`);
  }
  console.log(tally.table());
  return tally.failed > 0 ? 1 : 0;
}

await runProgram(main);
