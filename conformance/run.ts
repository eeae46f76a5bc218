/** Replays the recorded scenarios of the upstream controllers. See `--help`. */

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

Replays the vectors of conformance/vectors/settled, all or some, through the whole pipeline on all cores. Prints the passed
scenarios per controller, profile and class, and the first differences of those that fail.

  --writes      also require no more requests per verb than upstream
  --events      also require the same Events in every compared round
  --as-shipped  do not reproduce known deviations from upstream; a scenario may then differ if it passes with the
                deviations reproduced
  --max N       number of failures to show in detail (10)

Exit status: 1 if a scenario fails, 2 for a usage error.
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
  if (files.length === 0) throw new UsageError(`no vectors match ${wanted.join(' ')}`);

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
    for (const line of stale ? ['no longer differs; remove it from conformance/golden/explained.ts'] : one.differences)
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

/** Without events, some of the listed scenarios pass. */
function isListed(name: string, events: boolean): boolean {
  return explained.objects.has(name) || (events && explained.events.has(name));
}

await runProgram(main);
