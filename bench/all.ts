/** The long comparison: all workloads, Sluice beside kube-controller-manager. See `--help`. */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { ensureBinaries, KUBERNETES_VERSION } from '@sluice/local';
import { errorMessage } from '@sluice/platform';
import { UsageError } from '@sluice/platform/process';
import { choice, count, integer, list, oneOf, runCommand, say, text, textOr } from '@sluice/program';
import { Cells } from './src/cells.ts';
import { barChart } from './src/chart.ts';
import { commonConditions, conditionsNow, rotate } from './src/conditions.ts';
import { BASE, BASE_FLEET, baseControllers, CONTROLLERS, type Controller, FLEET, SUBJECT } from './src/controllers.ts';
import { measure } from './src/measure.ts';
import { outputs } from './src/output.ts';
import { outlines, overview } from './src/overview.ts';
import { requireProcessStats } from './src/process-stats.ts';
import { conditions } from './src/render.ts';
import { tables } from './src/report.ts';
import type { Results } from './src/results.ts';
import { defaultNamespaces } from './src/shape.ts';
import { rounded, samplesForP99 } from './src/statistics.ts';
import { markdownTable, type Table, textTable } from './src/table.ts';
import { warnings } from './src/warnings.ts';
import { allWorkloads, type Workload } from './src/workloads.ts';

function chosen<T extends { readonly name: string }>(option: string, all: readonly T[], text: string | undefined) {
  if (text === undefined) return all;
  const names = all.map(({ name }) => name);
  const wanted = list(text).map((name) => oneOf(option, name, names));
  return all.filter(({ name }) => wanted.includes(name));
}

async function measureAll(
  cells: Cells,
  workloads: readonly Workload[],
  controllers: readonly Controller[],
  rounds: number,
  untilMs: number,
  seconds: number,
  command: string,
): Promise<void> {
  requireProcessStats();
  try {
    commonConditions([...cells.conditions(), conditionsNow()]);
  } catch (error) {
    throw new UsageError(
      `cells of another commit or machine cannot be continued, use another --directory: ${errorMessage(error)}`,
    );
  }
  await ensureBinaries(say);
  const directory = mkdtempSync(join(tmpdir(), 'sluice-bench-'));
  for (let round = 1; round <= rounds; round += 1) {
    for (const workload of workloads) {
      for (const controller of rotate(controllers, round)) {
        if (cells.has(workload.name, controller.name, round)) continue;
        if (performance.now() > untilMs) return say('time limit reached; run the same command again to resume');
        say(`${workload.name}: ${workload.description}`);
        const { shape, phases } = workload;
        // A fleet is never restarted as a whole.
        const restart = workload.restart === true && ![FLEET, BASE_FLEET].includes(controller.name);
        const conditions = conditionsNow();
        const cell = {
          version: 2,
          conditions,
          kubernetes: KUBERNETES_VERSION,
          command,
          workload: workload.name,
          fsync: false,
          shape,
          seconds,
        } as const;
        try {
          const run = await measure(controller, round, {
            directory: join(directory, 'cluster'),
            ...{ shape, phases, restart, timeoutSeconds: 180, fsync: false, say },
          });
          cells.add({ ...cell, run });
        } catch (error) {
          // The other cells are useful without this one, and the same command tries it again.
          say(`measurement failed: ${error}`);
          process.exitCode = 1;
        }
      }
    }
  }
  rmSync(directory, { recursive: true, force: true });
}

type Measured = readonly { readonly workload: Workload; readonly results: Results }[];

function report(measured: Measured, names: readonly string[], table: (table: Table) => string): string {
  const all = outlines(measured);
  const others = names.filter((name) => name !== SUBJECT);
  const [first] = measured;
  const parts = [
    ...(first === undefined ? [] : [conditions(first.results)]),
    ...others.flatMap((other) => overview(all, other).map(table)),
    ...measured.flatMap(({ results }) => tables(results).map(table)),
    ...measured.flatMap(({ workload, results }) =>
      warnings(results).map((warning) => `unreliable: ${workload.name}, ${warning}`),
    ),
  ];
  return `${parts.join('\n')}\n`;
}

function writeCharts(directory: string, measured: Measured, names: readonly string[]): void {
  mkdirSync(directory, { recursive: true });
  const all = outlines(measured);
  writeFileSync(
    join(directory, 'latency.svg'),
    barChart('Latency, p50 in ms (starts: until everything is written)', all, 'p50', names),
  );
  writeFileSync(
    join(directory, 'cpu.svg'),
    barChart('CPU time of the controller per change, in ms (starts: total)', all, 'cpuMsPerFlip', names),
  );
}

function inJson(measured: Measured) {
  return {
    phases: outlines(measured).map(({ figures, ...rest }) => ({ ...rest, figures: Object.fromEntries(figures) })),
    workloads: measured.map(({ workload, results }) => ({ workload: workload.name, ...results })),
  };
}

const names = (all: readonly { readonly name: string }[]) => all.map(({ name }) => name).join(', ');

await runCommand({
  usage: 'node bench/all.ts',
  about: `Measures each workload with each controller, round by round. Each cell (workload, controller, round) is stored in a file
of its own and is not measured again, so an interrupted comparison resumes where it stopped, and parts can run at
different times. Prints tables of all stored cells. Run nothing else on the machine meanwhile.
`,
  options: {
    workloads: text('LIST', `some of ${names(allWorkloads({ rounds: 1, seconds: 1 }))} (all)`),
    controllers: text('LIST', `some of ${names(CONTROLLERS)} (all)`),
    base: text(
      'DIR',
      `another checkout of Sluice with its packages installed, to compare two commits:\nadds the controllers ${BASE} and ${BASE_FLEET}`,
    ),
    rounds: integer(5, 'rounds'),
    seconds: integer(10, `shortest duration at each rate; rounds are long enough for ${samplesForP99} flips in all`),
    namespaces: integer(defaultNamespaces, 'namespaces over which Services are spread'),
    directory: textOr('bench-results', 'DIR', 'folder of the cells'),
    minutes: text('N', 'start no cell after N minutes; 0: only print stored cells (no limit)'),
    output: choice(outputs, 'table', 'output format'),
    charts: text('DIR', 'folder for charts: latency.svg and cpu.svg'),
  },
  async main({ base, rounds, seconds, namespaces, directory, minutes, output, charts, ...given }) {
    const workloads = chosen('workloads', allWorkloads({ rounds, seconds, namespaces }), given.workloads);
    const all = base === undefined ? CONTROLLERS : [...CONTROLLERS, ...baseControllers(resolve(base))];
    const controllers = chosen('controllers', all, given.controllers);
    const cells = new Cells(directory);
    const spread = namespaces === defaultNamespaces ? '' : ` --namespaces ${namespaces}`;
    const command = `npm run bench:all -- --rounds ${rounds} --seconds ${seconds}${spread}`;
    if (minutes !== '0') {
      const until = minutes === undefined ? Number.POSITIVE_INFINITY : count('minutes', minutes) * 60_000;
      await measureAll(cells, workloads, controllers, rounds, until, seconds, command);
    }
    const shown = controllers.map(({ name }) => name);
    const measured = workloads.flatMap((workload) => {
      const results = cells.results(workload.name, shown);
      return results === undefined ? [] : [{ workload, results }];
    });
    if (measured.length === 0) return say(`no measurements in ${directory}`);
    if (output === 'json') process.stdout.write(`${JSON.stringify(inJson(measured), rounded, 1)}\n`);
    else process.stdout.write(report(measured, shown, output === 'markdown' ? markdownTable : textTable));
    if (charts !== undefined) writeCharts(charts, measured, shown);
  },
});
