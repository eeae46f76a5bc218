/**
 * Measures what bad clusters cost the good ones beside them. `--help` tells the rest.
 * Exit status 0 if all was seen and the bad ones recovered, 1 when not, 2 for wrong usage, 130 when interrupted.
 */

import { count, list, oneOf, optionsGiven, runProgram, say, UsageError } from '@sluice/program';
import { forms, measureIsolation, type Phase, type Round } from './src/clusters/isolation-measure.ts';
import { outputOf, printResults } from './src/output.ts';
import { requireProcessStats } from './src/process-stats.ts';
import { median, percentile } from './src/statistics.ts';
import { number, type Table } from './src/table.ts';

const HELP = `usage: node bench/isolation.ts [options]      (or: npm run bench:isolation -- [options])

Serves simulated clusters with one process of Sluice, in which Pods become ready or not at a fixed rate. In turn all are
well, of which three are idle, and these three are bad: one is down, one answers after 5 s, one answers 429 to everything,
while Pods change in them as well. Shows the latency in the good ones in both cases, and how long the bad ones take to be
right again once they are well, without a restart.

  --clusters N      with the three bad ones (20)
  --services N      Services of each (20)
  --pods N          Pods of each Service (5)
  --rate N          changes a second, in all clusters together (100)
  --seconds N       how long each time (10)
  --rounds N        how often, for each form (4)
  --forms LIST      how the one is down: refused, swallowed: nothing arrives and nobody is told (all)
  --seed N          which Pods change (1)
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
  if (options.clusters < 4) throw new UsageError('--clusters: three go bad, so at least four are needed');
  requireProcessStats();
  const phases = await measureIsolation({ ...options, say });
  const { clusters, rate, seconds, rounds } = options;
  const title = `${clusters - 3} good clusters of ${clusters}, ${rate} changes/s, ${rounds} × ${seconds} s each`;
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
  'down: right s',
  'slow: right s',
  '429: right s',
];

/** Latencies of all rounds together; of the rest medians. All forms are held against all phases in which all was well. */
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
    { ratio: false, cells: ['all well', ...well.map(number)] },
    ...chosen.flatMap((form) => [
      { ratio: false, cells: [`down: ${form}`, ...figures(form).map(number)] },
      { ratio: true, cells: ['', ...figures(form).map(compared)] },
    ]),
  ];
}

await runProgram(main);
