/** Plays the recorded scenarios of the genuine controllers. `--help` tells the options. */

import { globSync } from 'node:fs';
import { join } from 'node:path';
import { UsageError } from '@sluice/process';
import { count, type Given, parseCommandLine, runProgram } from '@sluice/program';
import { explained } from './golden/explained.ts';
import { playAll } from './golden/play-all.ts';
import type { Played } from './golden/player.ts';
import { readLines } from './golden/read-lines.ts';
import { Tally } from './golden/tally.ts';

const HELP = `usage: node conformance/run.ts [options] [CONTROLLER[/PROFILE] ...]      (or: npm run conformance -- ...)

Plays the vectors of conformance/vectors/settled, or those of some controllers and profiles, through the whole pipeline, on
all cores. Prints per controller, profile and class how many passed, and the first differences of those that fail.

  --writes      no more requests per verb than upstream
  --events      the same Events in every compared round
  --as-shipped  reproduce nothing of upstream that Sluice does otherwise; a scenario may then differ, if it passes with
                those ways reproduced
  --max N       show the differences of so many (10)

The exit status is 1 if any fails, 2 for wrong usage.
`;

const root = join(import.meta.dirname, 'vectors/settled');
const defaults = { writes: false, events: false, 'as-shipped': false, max: '10' } as const;

async function main(): Promise<number> {
  const line = parseCommandLine({ options: defaults, positionals: true }, process.argv.slice(2));
  if (line !== 'help') return play(line.positionals, line.options);
  process.stdout.write(HELP);
  return 0;
}

async function play(wanted: readonly string[], options: Given<typeof defaults>): Promise<number> {
  const { writes, events, 'as-shipped': asShipped } = options;
  const max = count('max', options.max);
  const files = globSync('*/*.jsonl.gz', { cwd: root })
    .map((file) => file.replace(/\.jsonl\.gz$/, ''))
    .filter((file) => wanted.length === 0 || wanted.some((name) => `${file}/`.startsWith(`${name}/`)))
    .sort();
  if (files.length === 0) throw new UsageError(`there are no vectors for ${wanted.join(' ')}`);

  const startedAt = performance.now();
  const lines = files.flatMap((file) => readLines(join(root, `${file}.jsonl.gz`)));
  const tally = new Tally();
  const deviations: Played[] = [];
  let shown = 0;
  for (const one of await playAll(lines, { asShipped, writes, events })) {
    const [profile, controller] = one.name.split('/');
    const differs = one.differences.length > 0;
    if (one.explained) {
      deviations.push(one);
      continue;
    }
    const stale = !differs && !asShipped && isListed(one.name, events);
    tally.add(`${controller}/${profile} ${one.class}`, !differs && !stale);
    if ((!differs && !stale) || shown++ >= max) continue;
    console.log(`FAIL ${one.name}`);
    for (const line of stale ? ['no longer differs; take it off the list of explained ones'] : one.differences)
      console.log(`   ${line}`);
  }
  console.log(tally.table());
  if (deviations.length > 0) {
    console.log(`explained in docs/reference/deviations.md: ${deviations.length}`);
    if (!asShipped) for (const { name } of deviations) console.log(`   ${name}`);
  }
  console.log(`${lines.length} scenarios in ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
  console.log(`${tally.passed} passed, ${tally.failed} failed, ${deviations.length} skipped`);
  return tally.failed > 0 ? 1 : 0;
}

/** Without the events, some of the listed pass. */
function isListed(name: string, events: boolean): boolean {
  return explained.objects.has(name) || (events && explained.events.has(name));
}

await runProgram(main);
