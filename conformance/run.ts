/**
 * node conformance/run.ts [--writes] [--events] [--as-shipped] [--max N] [CONTROLLER[/PROFILE]…]
 *
 * Plays the vectors of conformance/vectors/settled through the whole pipeline, on all cores, and prints per controller,
 * profile and class how many passed, and the first differences of those that fail (10, or N of them). The exit status is
 * 1 if any fails. With --as-shipped nothing of upstream is reproduced that Sluice does otherwise; a scenario may then
 * differ, if it passes with those ways reproduced.
 */
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { explained } from './golden/explained.ts';
import { playAll } from './golden/play-all.ts';
import type { Played } from './golden/player.ts';
import { readLines } from './golden/read-lines.ts';
import { Tally } from './golden/tally.ts';

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    writes: { type: 'boolean', default: false },
    events: { type: 'boolean', default: false },
    'as-shipped': { type: 'boolean', default: false },
    max: { type: 'string', default: '10' },
  },
});
const asShipped = values['as-shipped'];
const root = join(import.meta.dirname, 'vectors/settled');
const files = globSync('*/*.jsonl.gz', { cwd: root })
  .map((file) => file.replace(/\.jsonl\.gz$/, ''))
  .filter((file) => positionals.length === 0 || positionals.some((wanted) => `${file}/`.startsWith(`${wanted}/`)))
  .sort();
if (files.length === 0) {
  process.stderr.write(`conformance: no vectors for ${positionals.join(' ')}\n`);
  process.exit(2);
}

const startedAt = performance.now();
const lines = files.flatMap((file) => readLines(join(root, `${file}.jsonl.gz`)));
const played = await playAll(lines, { asShipped, writes: values.writes, events: values.events });

const tally = new Tally();
const deviations: Played[] = [];
let shown = 0;
for (const one of played) {
  const [profile, controller] = one.name.split('/');
  const differs = one.differences.length > 0;
  if (one.explained) {
    deviations.push(one);
    continue;
  }
  const stale = !differs && isListed(one.name);
  tally.add(`${controller}/${profile} ${one.class}`, !differs && !stale);
  if ((!differs && !stale) || shown++ >= Number(values.max)) continue;
  console.log(`FAIL ${one.name}`);
  for (const line of stale ? ['no longer differs; take it off the list of explained ones'] : one.differences)
    console.log(`   ${line}`);
}
console.log(tally.table());
if (deviations.length > 0) {
  console.log(`explained in docs/deviations.md: ${deviations.length}`);
  if (!asShipped) for (const { name } of deviations) console.log(`   ${name}`);
}
console.log(`${lines.length} scenarios in ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
console.log(`${tally.passed} passed, ${tally.failed} failed, ${deviations.length} skipped`);
process.exitCode = tally.failed > 0 ? 1 : 0;

/** As shipped, and without the events, some of the listed pass. */
function isListed(name: string): boolean {
  if (asShipped) return false;
  return explained.objects.has(name) || (values.events && explained.events.has(name));
}
