/** Measures how faulty clusters affect the healthy ones beside them. See `--help`. */

import { UsageError } from '@sluice/platform/process';
import { integer, say, selection } from '@sluice/program';
import { forms, measureIsolation, type Phase, type Round } from './src/clusters/isolation-measure.ts';
import { runBench } from './src/run-bench.ts';
import { median, reliablePercentile } from './src/statistics.ts';
import { number, type Table } from './src/table.ts';

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
      ...[0.5, 0.99, 1].map((share) => reliablePercentile(latencies, share)),
      these.reduce((sum, { missing }) => sum + missing, 0),
      median(these.map(({ cpuMsPerChange }) => cpuMsPerChange)),
      ...[0, 1, 2].map((i) => median(these.map(({ recoverySeconds }) => recoverySeconds[i] ?? Number.NaN))),
    ];
  };
  const well = figures(undefined);
  const compared = (value: number, i: number) =>
    [0, 1, 2, 4].includes(i) ? `${(value / (well[i] ?? Number.NaN)).toFixed(2)}×` : '';
  return [
    { cells: ['all healthy', ...well.map(number)] },
    ...chosen.flatMap((form) => [
      { cells: [`down: ${form}`, ...figures(form).map(number)] },
      { ratio: true, cells: ['', ...figures(form).map(compared)] },
    ]),
  ];
}

await runBench({
  name: 'isolation',
  about: `One process of Sluice serves fake clusters in which Pods flip their readiness at a fixed rate. Alternates between all
clusters healthy, three of them idle, and these three faulty: one is down, one responds after 5 s, one responds with 429
to everything, while Pods change in them as well. Shows the latency in the healthy clusters in both cases, and how long
the faulty ones take to recover after their repair, without a restart. Exit status 1 if a flip never became visible or a
faulty cluster did not recover.
`,
  options: {
    clusters: integer(20, 'including the three faulty ones'),
    services: integer(20, 'Services per cluster'),
    pods: integer(5, 'Pods per Service'),
    rate: integer(100, 'changes per second over all clusters'),
    seconds: integer(10, 'duration of each measurement'),
    rounds: integer(4, 'rounds per form'),
    forms: selection(forms, 'how the first one fails; swallowed: bytes are dropped'),
    seed: integer(1, 'seed of the changes'),
  },
  async measure({ services, pods, ...options }, directory) {
    const { clusters, rate, seconds, rounds, forms } = options;
    if (clusters < 4) throw new UsageError('--clusters: at least four are needed, because three of them are faulty');
    const phases = await measureIsolation({ ...options, shape: { services, pods }, directory, say });
    const title = `${clusters - 3} healthy clusters of ${clusters}, ${rate} changes/s, ${rounds} × ${seconds} s each`;
    return {
      tables: [{ title, head, rows: rowsOf(phases, forms) }],
      json: { ...options, shape: { services, pods }, phases },
      failed: phases.some(({ missing, recoverySeconds }) => missing > 0 || recoverySeconds.some(Number.isNaN)),
    };
  },
});
