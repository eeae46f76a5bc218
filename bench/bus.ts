/** Measures the buses. See `--help`. */

import { ensureKafkaJars, ensureNatsServer } from '@sluice/local';
import { integer, say, selection } from '@sluice/program';
import { type BusFigures, type BusLoad, measureBus } from './src/bus-measure.ts';
import { BUSES } from './src/bus-servers.ts';
import { runBench } from './src/run-bench.ts';
import { median } from './src/statistics.ts';
import { number, type Table } from './src/table.ts';

const COLUMNS: readonly (readonly [keyof BusFigures, string])[] = [
  ['firstConnectMs', 'first connect ms'],
  ['connectMs', 'connect ms'],
  ['latencyP50Ms', 'latency p50 ms'],
  ['latencyP99Ms', 'p99 ms'],
  ['appendedPerSecond', 'appended/s'],
  ['readPerSecond', 'read/s'],
];

/** Medians over the rounds. */
function table(title: string, figures: ReadonlyMap<string, readonly BusFigures[]>): Table {
  return {
    title,
    head: ['bus', ...COLUMNS.map(([, name]) => name)],
    rows: [...figures].map(([bus, rounds]) => ({
      cells: [bus, ...COLUMNS.map(([key]) => number(median(rounds.map((round) => round[key]))))],
    })),
  };
}

await runBench({
  name: 'bus',
  about: `Measures the buses: latency from append to reader, records per second, and connection time. Each round uses new servers
and alternates between the buses.
`,
  options: {
    buses: selection(Object.keys(BUSES), 'buses'),
    rounds: integer(5, 'rounds'),
    partitions: integer(64, 'partitions'),
    rate: integer(1000, 'single records per second, for latency'),
    seconds: integer(5, 'duration of the latency measurement'),
    records: integer(50_000, 'records, for throughput'),
    call: integer(20, 'records per append, for throughput'),
    payload: integer(1000, 'bytes per record'),
  },
  async measure({ buses, rounds, partitions, rate, seconds, records, call, payload }) {
    const load: BusLoad = { partitions, payloadBytes: payload, rate, seconds, records, callSize: call };
    if (buses.some((name) => name.startsWith('jetstream'))) await ensureNatsServer(say);
    if (buses.includes('kafka')) await ensureKafkaJars(say);
    const figures = new Map<string, BusFigures[]>(buses.map((name) => [name, []]));
    for (let round = 1; round <= rounds; round++) {
      for (const name of buses) {
        const start = BUSES[name];
        if (start === undefined) continue;
        say(`round ${round} of ${rounds}: ${name}`);
        figures.get(name)?.push(await measureBus(start, load));
      }
    }
    return {
      tables: [table(`${partitions} partitions, records of ${payload} bytes`, figures)],
      conditions: `Medians of ${rounds} rounds. `,
      json: { load, figures: Object.fromEntries(figures) },
    };
  },
});
