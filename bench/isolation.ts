/**
 * Measures how faulty clusters affect the healthy ones beside them. See `--help`.
 * Exit status 0 if all flips became visible and the faulty clusters recovered, 1 if not, 2 for a usage error, 130 when
 * interrupted.
 */

import { UsageError } from '@sluice/process';
import { count, list, oneOf, optionsGiven, runProgram, say } from '@sluice/program';
import { forms, measureIsolation, type Phase, type Round } from './src/clusters/isolation-measure.ts';
import { outputOf, printResults } from './src/output.ts';
import { requireProcessStats } from './src/process-stats.ts';
import { median, percentile } from './src/statistics.ts';
import { number, type Table } from './src/table.ts';

const HELP = `usage: node bench/isolation.ts [options]      (or: npm run bench:isolation -- [options])

One process of Sluice serves fake clusters in which Pods flip their readiness at a fixed rate. Alternates between all
clusters healthy, three of them idle, and these three faulty: one is down, one responds after 5 s, one responds with 429
to everything, while Pods change in them as well. Shows the latency in the healthy clusters in both cases, and how long
the faulty ones take to recover after their repair, without a restart.

  --clusters N      including the three faulty ones (20)
  --services N      Services per cluster (20)
  --pods N          Pods per Service (5)
  --rate N          changes per second over all clusters (100)
  --seconds N       duration of each measurement (10)
  --rounds N        rounds per form (4)
  --forms LIST      how the first one is down: refused, or swallowed (bytes are dropped silently) (all)
  --seed N          seed of the changes (1)
  --output FORMAT   table, json or markdown (table)
  --help            this text
`;

const DEFAULTS = {
  clusters: '20',
  services: '20',
  pods: '5',
  rate: '100',
  seconds: '10',
  rounds: '4',
  forms: forms.join(','),
  seed: '1',
  output: 'table',
};

async function main(): Promise<void> {
  const values = optionsGiven(DEFAULTS, HELP);
  if (values === undefined) return;
  const output = outputOf(values.output);
  const options = {
    clusters: count('clusters', values.clusters),
    shape: { services: count('services', values.services), pods: count('pods', values.pods) },
    rate: count('rate', values.rate),
    seconds: count('seconds', values.seconds),
    rounds: count('rounds', values.rounds),
    forms: list(values.forms).map((form) => oneOf('forms', form, forms)),
    seed: count('seed', values.seed),
  };
  if (options.clusters < 4)
    throw new UsageError('--clusters: at least four are needed, because three of them are faulty');
  requireProcessStats();
  const phases = await measureIsolation({ ...options, say });
  const { clusters, rate, seconds, rounds } = options;
  const title = `${clusters - 3} healthy clusters of ${clusters}, ${rate} changes/s, ${rounds} × ${seconds} s each`;
  const tables = [{ title, head, rows: rowsOf(phases, options.forms) }];
  printResults(output, { tables, conditions: '', json: { ...options, phases } });
  if (phases.some(({ missing, recoverySeconds }) => missing > 0 || recoverySeconds.some(Number.isNaN))) {
    process.exitCode = 1;
  }
}

const head = [
  '',
  'p50 ms',
  'p99 ms',
  'max ms',
  'missing',
  'CPU ms/change',
  'down: recovery s',
  'slow: recovery s',
  '429: recovery s',
];

/** Latencies of all rounds together, medians of the rest. Every form is compared with all healthy phases. */
function rowsOf(phases: readonly Phase[], chosen: readonly Round[]): Table['rows'] {
  const figures = (form: Round | undefined) => {
    const these = phases.filter((phase) => phase.form === form);
    const latencies = these.flatMap((phase) => phase.latencies);
    return [
      ...[0.5, 0.99, 1].map((share) => percentile(latencies, share)),
      these.reduce((sum, { missing }) => sum + missing, 0),
      median(these.map(({ cpuMsPerChange }) => cpuMsPerChange)),
      ...[0, 1, 2].map((i) => median(these.map(({ recoverySeconds }) => recoverySeconds[i] ?? Number.NaN))),
    ];
  };
  const well = figures(undefined);
  const compared = (value: number, i: number) =>
    [0, 1, 2, 4].includes(i) ? `${(value / (well[i] ?? Number.NaN)).toFixed(2)}×` : '';
  return [
    { ratio: false, cells: ['all healthy', ...well.map(number)] },
    ...chosen.flatMap((form) => [
      { ratio: false, cells: [`down: ${form}`, ...figures(form).map(number)] },
      { ratio: true, cells: ['', ...figures(form).map(compared)] },
    ]),
  ];
}

await runProgram(main);
