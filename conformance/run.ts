/** Replays the recorded scenarios of the upstream controllers. See `--help`. */

import { globSync } from 'node:fs';
import { join } from 'node:path';
import { UsageError } from '@sluice/platform/process';
import { count, parseCommandLine, runProgram } from '@sluice/program';
import { type AsShipped, readAsShipped, writeAsShipped } from './golden/as-shipped.ts';
import { isListed } from './golden/explained.ts';
import { playAll } from './golden/play-all.ts';
import type { Mode, Played } from './golden/player.ts';
import { readLines } from './golden/read-lines.ts';
import { Tally } from './golden/tally.ts';

const HELP = `usage: node conformance/run.ts [options] [CONTROLLER[/PROFILE] ...]      (or: npm run conformance -- ...)

Replays the vectors of conformance/vectors/settled, all or some, through the whole pipeline on all cores. Compares states,
Events and numbers of requests with upstream's, with all deviations reproduced (docs/reference/parity.md). Prints the
passed scenarios and the compared rounds per controller, profile and class, and the first differences of those that fail.

  --as-shipped  reproduce no deviation; a scenario differs if and only if conformance/golden/as-shipped.json names it, and
                passes with the deviations that are named there, and with no fewer
  --search      find these deviations and write conformance/golden/as-shipped.json
  --max N       number of failures to show in detail (10)

Exit status: 1 if a scenario fails, 2 for a usage error.
`;

const root = join(import.meta.dirname, 'vectors/settled');
const defaults = { 'as-shipped': false, search: false, max: '10' } as const;

async function main(): Promise<number> {
  const { stdout, argv } = process;
  const line = parseCommandLine({ options: defaults, positionals: true }, argv.slice(2));
  if (line === 'help') {
    stdout.write(HELP);
    return 0;
  }
  const { 'as-shipped': asShipped, search } = line.options;
  if (search) return writeList(await playAll(linesOf(line.positionals), 'search'));
  return play(linesOf(line.positionals), asShipped ? 'shipped' : 'upstream', count('max', line.options.max));
}

function linesOf(wanted: readonly string[]): readonly string[] {
  const files = globSync('*/*.jsonl.gz', { cwd: root })
    .map((file) => file.replace(/\.jsonl\.gz$/, ''))
    .filter((file) => wanted.length === 0 || wanted.some((name) => `${file}/`.startsWith(`${name}/`)))
    .sort();
  if (files.length === 0) throw new UsageError(`no vectors match ${wanted.join(' ')}`);
  return files.flatMap((file) => readLines(join(root, `${file}.jsonl.gz`)));
}

async function play(lines: readonly string[], mode: Mode, max: number): Promise<number> {
  const startedAt = performance.now();
  const tally = new Tally();
  const explained = new Map<string, number>();
  let shown = 0;
  for (const one of await playAll(lines, mode)) {
    const { name, differences, listed, deviations } = one;
    const [profile, controller] = name.split('/');
    const differs = differences.length > 0;
    tally.add(`${controller}/${profile} ${one.class}`, one, differs === listed);
    if (differs && listed) {
      const why = deviations?.join(' ') ?? 'golden/explained.ts';
      explained.set(why, (explained.get(why) ?? 0) + 1);
    }
    if (differs === listed || shown++ >= max) continue;
    console.log(`FAIL ${name}`);
    for (const line of differs ? differences : ['no longer differs, but is listed']) console.log(`   ${line}`);
  }
  console.log(tally.table());
  const counts = [...explained].sort(([, a], [, b]) => b - a).map(([why, scenarios]) => `${why}: ${scenarios}`);
  console.log(`scenarios that differ as listed: ${counts.join(', ') || 'none'}`);
  console.log(`${lines.length} scenarios in ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
  console.log(`${tally.total.passed} passed, ${tally.failed} failed, 0 skipped`);
  return tally.failed > 0 ? 1 : 0;
}

/** Replaces the entries of the played scenarios. */
function writeList(played: readonly Played[]): number {
  const list: Record<string, AsShipped[string]> = { ...readAsShipped() };
  const unexplained: string[] = [];
  for (const { name, differences, deviations } of played) {
    delete list[name];
    if (deviations !== undefined) list[name] = deviations;
    else if (differences.length > 0 && !isListed(name, true)) unexplained.push(name);
  }
  writeAsShipped(list);
  console.log(`${Object.keys(list).length} scenarios differ as shipped`);
  for (const name of unexplained) console.log(`FAIL ${name}: no deviations explain it`);
  return unexplained.length > 0 ? 1 : 0;
}

await runProgram(main);
