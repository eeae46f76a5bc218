/** Measures the throughput and CPU cost of reconcilers. See `--help`. */

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { ensureNatsServer } from '@sluice/local';
import { count, list, optionsGiven, runProgram, say } from '@sluice/program';
import { outputOf, printResults } from './src/output.ts';
import { requireProcessStats } from './src/process-stats.ts';
import { median } from './src/statistics.ts';
import { number, type Table } from './src/table.ts';
import { measureThroughput, type Throughput } from './src/throughput-measure.ts';

const HELP = `usage: node bench/throughput.ts [options]      (or: npm run bench:throughput -- [options])

Feeds Pod Changes, each at its planned time, to reconciler processes with NATS and Redis on this machine. Stub writers
publish an Outcome for each plan, and a stub watcher the watch echoes. A measurement ends when every Service shows the
last Change in its EndpointSlices and Endpoints; anything else is an error.

A reconciler that falls behind reads several Changes of a Service at once and decides once for all of them. CPU per
Change therefore compares numbers of reconcilers only at a rate that all of them sustain (two plans per Change).
Processors that share a core slow each other down; \`unit\` is the time of a fixed workload during the measurement.

  --services N      Services (500)
  --pods N          Pods per Service (20)
  --workers LIST    numbers of reconcilers to measure (1,2,4)
  --rates LIST      Pod Changes per second, one rate after the other (2000,5000)
  --seconds N       duration at each rate (10)
  --warm-up N       warm-up at the first rate, in seconds (5)
  --write-ms N      simulated API server time per plan, in milliseconds (5)
  --rounds N        rounds; in each one every number of reconcilers is measured once (3)
  --output FORMAT   table, json or markdown (table)
  --profile DIR     folder for CPU profiles of the reconcilers; see bench/profile-summary.ts
  --timeout N       maximum wait for convergence, in seconds (60)
  --help            this text
`;

const COLUMNS: readonly (readonly [string, (one: Throughput) => number])[] = [
  ['Changes/s', (one) => one.changesPerSecond],
  ['applied/s', (one) => one.foldedPerSecond],
  ['plans/s', (one) => one.plansPerSecond],
  ['plans/Change', (one) => one.plansPerSecond / one.changesPerSecond],
  ['p50 ms', (one) => one.p50Ms],
  ['p99 ms', (one) => one.p99Ms],
  ['converged s', (one) => one.convergenceSeconds],
  ['µs/Change', (one) => one.cpuMicrosecondsPerChange],
  ['µs/applied', (one) => one.cpuMicrosecondsPerFolded],
  ['unit µs', (one) => one.unitMicroseconds],
  ['cores', (one) => one.cores.reconcilers],
  ['NATS', (one) => one.cores.nats],
  ['Redis', (one) => one.cores.redis],
  ['bench', (one) => one.cores.bench],
];

const DEFAULTS = {
  services: '500',
  pods: '20',
  workers: '1,2,4',
  rates: '2000,5000',
  seconds: '10',
  'warm-up': '5',
  'write-ms': '5',
  rounds: '3',
  output: 'table',
  profile: undefined,
  timeout: '60',
};

async function main(): Promise<void> {
  const values = optionsGiven(DEFAULTS, HELP);
  if (values === undefined) return;
  const output = outputOf(values.output);
  const rounds = count('rounds', values.rounds);
  const workers = list(values.workers).map((text) => count('workers', text));
  const shape = { services: count('services', values.services), pods: count('pods', values.pods) };
  const profile = values.profile === undefined ? undefined : resolve(values.profile);
  const options = {
    shape,
    rates: list(values.rates).map((text) => count('rates', text)),
    seconds: count('seconds', values.seconds),
    warmUpSeconds: Number(values['warm-up']),
    writeMs: Number(values['write-ms']),
    timeoutSeconds: count('timeout', values.timeout),
    ...(profile !== undefined && { profileDirectory: profile }),
    say,
  };
  requireProcessStats();
  await ensureNatsServer(say);
  if (profile !== undefined) mkdirSync(profile, { recursive: true });
  const directory = mkdtempSync(join(tmpdir(), 'sluice-bench-throughput-'));
  const results: Throughput[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    for (const some of round % 2 === 1 ? workers : workers.toReversed()) {
      results.push(...(await measureThroughput(some, round, { ...options, directory })));
    }
  }
  // Kept on failure: it contains the logs.
  rmSync(directory, { recursive: true, force: true });
  const { say: _, ...asked } = options;
  const tables = options.rates.map((rate) =>
    table(`${rate} Changes/s, ${shape.services} Services × ${shape.pods} Pods`, rate, results),
  );
  printResults(output, { tables, conditions: `Medians of ${rounds} rounds. `, json: { ...asked, results } });
}

/** Medians over the rounds, and the CPU time of a Change, and its units, divided by those of the fewest reconcilers. */
function table(title: string, rate: number, results: readonly Throughput[]): Table {
  const numbers = [...new Set(results.map(({ workers }) => workers))].sort((a, b) => a - b);
  const of = (workers: number) => results.filter((one) => one.workers === workers && one.rate === rate);
  const cpu = (workers: number) => median(of(workers).map((one) => one.cpuMicrosecondsPerChange));
  const units = (workers: number) =>
    median(of(workers).map((one) => one.cpuMicrosecondsPerChange / one.unitMicroseconds));
  const [fewest = 1] = numbers;
  return {
    title,
    head: ['reconcilers', ...COLUMNS.map(([name]) => name), '× CPU', '× units'],
    rows: numbers.map((workers) => ({
      ratio: false,
      cells: [
        String(workers),
        ...COLUMNS.map(([, figure]) => number(median(of(workers).map(figure)))),
        number(cpu(workers) / cpu(fewest)),
        number(units(workers) / units(fewest)),
      ],
    })),
  };
}

await runProgram(main);
