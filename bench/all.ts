/**
 * The long comparison: every shape and work, Sluice beside kube-controller-manager. `--help` tells the rest.
 */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureBinaries } from '@sluice/local';
import { count, list, oneOf, optionsGiven, runProgram, say } from '@sluice/program';
import { Cells } from './src/cells.ts';
import { barChart } from './src/chart.ts';
import { conditionsNow, inTurn } from './src/conditions.ts';
import { CONTROLLERS, type Controller, FLEET, SUBJECT } from './src/controllers.ts';
import { measure } from './src/measure.ts';
import { outputOf } from './src/output.ts';
import { outlines, overview } from './src/overview.ts';
import { requireProcessStats } from './src/process-stats.ts';
import { conditions } from './src/render.ts';
import { tables } from './src/report.ts';
import type { Results } from './src/results.ts';
import { rounded } from './src/statistics.ts';
import { markdownTable, type Table, textTable } from './src/table.ts';
import { warnings } from './src/warnings.ts';
import { allWorks, type Work } from './src/works.ts';

const DEFAULTS = {
  works: undefined,
  controllers: undefined,
  rounds: '5',
  seconds: '15',
  directory: 'bench-results',
  minutes: undefined,
  output: 'table',
  charts: undefined,
} as const;

const HELP = `usage: node bench/all.ts [options]      (or: npm run bench:all -- [options])

Measures each work with each controller in turn, round by round. Every cell (work, controller, round) is a file in a
folder: what is there is not measured again, so an interrupted comparison goes on where it was, and parts can be done at
different times. Prints tables of all that is there. Nothing else should run meanwhile.

  --works LIST         some of: ${allWorks(1)
    .map(({ name }) => name)
    .join(', ')} (all)
  --controllers LIST   some of: ${CONTROLLERS.map(({ name }) => name).join(', ')} (all)
  --rounds N           (5)
  --seconds N          how long at each rate (15)
  --directory DIR      where the cells are (bench-results)
  --minutes N          begin no cell after so many minutes; 0: measure nothing, print what is there (no limit)
  --output FORMAT      table, json or markdown, on standard output (table)
  --charts DIR         write charts there: latency.svg and cpu.svg
  --help               this text
`;

async function main(): Promise<void> {
  const given = optionsGiven(DEFAULTS, HELP);
  if (given === undefined) return;
  const output = outputOf(given.output);
  const known = allWorks(count('seconds', given.seconds));
  const works = chosen('works', known, given.works);
  const controllers = chosen('controllers', CONTROLLERS, given.controllers);
  const cells = new Cells(given.directory);
  const rounds = count('rounds', given.rounds);
  if (given.minutes !== '0') {
    const until = given.minutes === undefined ? Number.POSITIVE_INFINITY : count('minutes', given.minutes) * 60_000;
    await measureAll(cells, works, controllers, rounds, until, given.seconds);
  }
  const names = controllers.map(({ name }) => name);
  const measured = works.flatMap((work) => {
    const results = cells.results(work, names);
    return results === undefined ? [] : [{ work, results }];
  });
  if (measured.length === 0) return say(`nothing is measured in ${given.directory}`);
  if (output === 'json') process.stdout.write(`${JSON.stringify(inJson(measured), rounded, 1)}\n`);
  else process.stdout.write(report(measured, names, output === 'markdown' ? markdownTable : textTable));
  if (given.charts !== undefined) writeCharts(given.charts, measured, names);
}

function chosen<T extends { readonly name: string }>(option: string, all: readonly T[], text: string | undefined) {
  if (text === undefined) return all;
  const names = all.map(({ name }) => name);
  const wanted = list(text).map((name) => oneOf(option, name, names));
  return all.filter(({ name }) => wanted.includes(name));
}

async function measureAll(
  cells: Cells,
  works: readonly Work[],
  controllers: readonly Controller[],
  rounds: number,
  untilMs: number,
  seconds: string,
): Promise<void> {
  requireProcessStats();
  await ensureBinaries(say);
  const directory = mkdtempSync(join(tmpdir(), 'sluice-bench-'));
  for (let round = 1; round <= rounds; round += 1) {
    for (const work of works) {
      for (const controller of inTurn(controllers, round)) {
        if (cells.has(work.name, controller.name, round)) continue;
        if (performance.now() > untilMs) return say('the time is up; the same command goes on from here');
        const before = conditionsNow();
        say(`${work.name}: ${work.description}`);
        const { shape, phases } = work;
        // A fleet is never started anew as a whole.
        const restart = work.restart === true && controller.name !== FLEET;
        const command = `npm run bench:all -- --seconds ${seconds} --rounds ${rounds}`;
        const cell = { ...before, command, work: work.name, fsync: false, shape, seconds: Number(seconds) };
        try {
          const run = await measure(controller, round, {
            directory: join(directory, 'cluster'),
            ...{ shape, phases, restart, patienceSeconds: 180, fsync: false, say },
          });
          cells.add({ ...cell, run });
        } catch (error) {
          // The others are of use without it, and the same command tries it again.
          say(`no figures of this one: ${error}`);
          process.exitCode = 1;
        }
      }
    }
  }
  rmSync(directory, { recursive: true, force: true });
}

type Measured = readonly { readonly work: Work; readonly results: Results }[];

function report(measured: Measured, names: readonly string[], table: (table: Table) => string): string {
  const all = outlines(measured);
  const others = names.filter((name) => name !== SUBJECT);
  const [first] = measured;
  const parts = [
    ...(first === undefined ? [] : [conditions(first.results)]),
    ...others.map((other) => table(overview(all, other))),
    ...measured.flatMap(({ results }) => tables(results).map(table)),
    ...measured.flatMap(({ work, results }) => warnings(results).map((doubt) => `doubtful: ${work.name}, ${doubt}`)),
  ];
  return `${parts.join('\n')}\n`;
}

function writeCharts(directory: string, measured: Measured, names: readonly string[]): void {
  mkdirSync(directory, { recursive: true });
  const all = outlines(measured);
  writeFileSync(
    join(directory, 'latency.svg'),
    barChart('Latency, p50 in ms (of starts: until all is written)', all, 'p50', names),
  );
  writeFileSync(
    join(directory, 'cpu.svg'),
    barChart('CPU of the controller for each change, in ms (of starts: all of it)', all, 'cpuMsPerFlip', names),
  );
}

function inJson(measured: Measured) {
  return {
    phases: outlines(measured).map(({ figures, ...rest }) => ({ ...rest, figures: Object.fromEntries(figures) })),
    works: measured.map(({ work, results }) => ({ work: work.name, ...results })),
  };
}

await runProgram(main);
