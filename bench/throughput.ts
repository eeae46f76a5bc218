/** Measures the throughput and CPU cost of reconcilers. See `--help`. */

import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { ensureNatsServer } from '@sluice/local';
import { integer, integers, say, text } from '@sluice/program';
import { runBench } from './src/run-bench.ts';
import { median } from './src/statistics.ts';
import { number, type Table } from './src/table.ts';
import { measureThroughput, type Throughput } from './src/throughput-measure.ts';

const COLUMNS: readonly (readonly [string, (one: Throughput) => number])[] = [
  ['Changes/s', (one) => one.changesPerSecond],
  ['applied/s', (one) => one.foldedPerSecond],
  ['plans/s', (one) => one.plansPerSecond],
  ['plans/Change', (one) => one.plansPerSecond / one.changesPerSecond],
  ['p50 ms', (one) => one.p50Ms],
  ['p99 ms', (one) => one.p99Ms],
  ['leases lost', (one) => one.leasesLost],
  ['converged s', (one) => one.convergenceSeconds],
  ['µs/Change', (one) => one.cpuMicrosecondsPerChange],
  ['µs/applied', (one) => one.cpuMicrosecondsPerFolded],
  ['unit µs', (one) => one.unitMicroseconds],
  ['cores', (one) => one.cores.reconcilers],
  ['NATS', (one) => one.cores.nats],
  ['Redis', (one) => one.cores.redis],
  ['bench', (one) => one.cores.bench],
];

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
      cells: [
        String(workers),
        ...COLUMNS.map(([, figure]) => number(median(of(workers).map(figure)))),
        number(cpu(workers) / cpu(fewest)),
        number(units(workers) / units(fewest)),
      ],
    })),
  };
}

await runBench({
  name: 'throughput',
  about: `Feeds Pod Changes, each at its planned time, to reconciler processes with NATS and Redis on this machine. Stub writers
publish an Outcome for each plan, and a stub watcher the watch echoes. A measurement ends when every Service shows the
last Change in its EndpointSlices and Endpoints; anything else is an error.

A reconciler that falls behind reads several Changes of a Service at once and decides once for all of them. CPU per
Change therefore compares numbers of reconcilers only at a rate that all of them sustain (two plans per Change).
Processors that share a core slow each other down; \`unit\` is the time of a fixed workload during the measurement.
`,
  options: {
    services: integer(500, 'Services'),
    pods: integer(20, 'Pods per Service'),
    workers: integers([1, 2, 4], 'numbers of reconcilers to measure'),
    rates: integers([2000, 5000], 'Pod Changes per second, one rate after the other'),
    seconds: integer(10, 'duration at each rate'),
    'warm-up': integer(5, 'warm-up at the first rate, in seconds'),
    'write-ms': integer(5, 'simulated API server time per plan, in milliseconds'),
    rounds: integer(3, 'rounds; in each one every number of reconcilers is measured once'),
    profile: text('DIR', 'folder for CPU profiles of the reconcilers; see bench/profile-summary.ts'),
    timeout: integer(60, 'maximum wait for convergence, in seconds'),
  },
  async measure(given, directory) {
    const { services, pods, workers, rates, seconds, rounds } = given;
    const profile = given.profile === undefined ? undefined : resolve(given.profile);
    if (profile !== undefined) mkdirSync(profile, { recursive: true });
    const options = {
      ...{ shape: { services, pods }, rates, seconds, warmUpSeconds: given['warm-up'], writeMs: given['write-ms'] },
      ...{ timeoutSeconds: given.timeout, ...(profile !== undefined && { profileDirectory: profile }) },
    };
    await ensureNatsServer(say);
    const results: Throughput[] = [];
    for (let round = 1; round <= rounds; round += 1) {
      for (const some of round % 2 === 1 ? workers : workers.toReversed()) {
        results.push(...(await measureThroughput(some, round, { ...options, directory, say })));
      }
    }
    const tables = rates.map((rate) => table(`${rate} Changes/s, ${services} Services × ${pods} Pods`, rate, results));
    return { tables, conditions: `Medians of ${rounds} rounds. `, json: { ...options, results } };
  },
});
