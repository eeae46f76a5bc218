/**
 * node conformance/compare.ts EXPECTED.jsonl[.gz] ACTUAL.jsonl[.gz] [--writes] [--events] [--max N]
 *
 * Compares results with vectors. Prints the first differences of scenarios that fail (10, or N of them) and how many
 * passed per profile and class; the exit status is 1 if any fails.
 */
import { parseArgs } from 'node:util';
import { compareScenario } from './golden/compare-scenario.ts';
import { readLines } from './golden/read-lines.ts';
import { Tally } from './golden/tally.ts';
import type { Result, Vector } from './golden/vector.ts';

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { writes: { type: 'boolean' }, events: { type: 'boolean' }, max: { type: 'string', default: '10' } },
});
const [expected, actual] = positionals;
if (expected === undefined || actual === undefined) {
  process.stderr.write('usage: compare.ts EXPECTED.jsonl[.gz] ACTUAL.jsonl[.gz] [--writes] [--events] [--max N]\n');
  process.exit(2);
}

const results = new Map(
  readLines(actual)
    .map((line) => JSON.parse(line) as Result)
    .map((result) => [result.name, result]),
);
const tally = new Tally();
let shown = 0;
for (const line of readLines(expected)) {
  const vector = JSON.parse(line) as Vector;
  const result = results.get(vector.name);
  const lines =
    result === undefined
      ? ['no result']
      : compareScenario(vector, result, { writes: values.writes === true, events: values.events === true });
  tally.add(`${vector.name.split('/')[0]} ${vector.class}`, lines.length === 0);
  if (lines.length === 0 || shown++ >= Number(values.max)) continue;
  console.log(`FAIL ${vector.name}`);
  for (const difference of lines) console.log(`   ${difference}`);
}
console.log(tally.table());
process.exitCode = tally.failed > 0 ? 1 : 0;
