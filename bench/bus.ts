/**
 * Measures the buses: latency from append to reader, records per second, and connection time. Each round uses new servers
 * and alternates between the buses; results are medians over the rounds. See `--help`.
 */

import { ensureKafkaJars, ensureNatsServer } from '@sluice/local';
import { count, list, oneOf, optionsGiven, runProgram, say } from '@sluice/program';
import { type BusFigures, type BusLoad, measureBus } from './src/bus-measure.ts';
import { BUSES } from './src/bus-servers.ts';
import { median } from './src/statistics.ts';

const HELP = `usage: node bench/bus.ts [options]      (or: npm run bench:bus -- [options])

  --buses LIST     some of ${Object.keys(BUSES).join(', ')} (all)
  --rounds N       (5)
  --partitions N   (64)
  --rate N         single records per second, for latency (1000)
  --seconds N      duration of the latency measurement (5)
  --records N      records, for throughput (50000)
  --call N         records per append, for throughput (20)
  --payload N      bytes per record (1000)
  --json           print the figures of every round as JSON
`;

const COLUMNS: readonly (readonly [keyof BusFigures, string, digits: number])[] = [
  ['firstConnectMs', 'first connect ms', 0],
  ['connectMs', 'connect ms', 0],
  ['latencyP50Ms', 'latency p50 ms', 2],
  ['latencyP99Ms', 'p99 ms', 2],
  ['appendedPerSecond', 'appended/s', 0],
  ['readPerSecond', 'read/s', 0],
];

async function main(): Promise<void> {
  const values = optionsGiven(
    {
      buses: Object.keys(BUSES).join(','),
      rounds: '5',
      partitions: '64',
      rate: '1000',
      seconds: '5',
      records: '50000',
      call: '20',
      payload: '1000',
      json: false,
    },
    HELP,
  );
  if (values === undefined) return;
  const number = (name: Exclude<keyof typeof values, 'json'>) => count(name, values[name]);
  const load: BusLoad = {
    partitions: number('partitions'),
    payloadBytes: number('payload'),
    rate: number('rate'),
    seconds: number('seconds'),
    records: number('records'),
    callSize: number('call'),
  };
  const rounds = number('rounds');
  const names = list(values.buses).map((name) => oneOf('buses', name, Object.keys(BUSES)));
  if (names.some((name) => name.startsWith('jetstream'))) await ensureNatsServer(say);
  if (names.includes('kafka')) await ensureKafkaJars(say);
  const figures = new Map<string, BusFigures[]>(names.map((name) => [name, []]));
  for (let round = 1; round <= rounds; round++) {
    for (const name of names) {
      const start = BUSES[name];
      if (start === undefined) continue;
      say(`round ${round} of ${rounds}: ${name}`);
      figures.get(name)?.push(await measureBus(start, load));
    }
  }
  if (values.json) process.stdout.write(`${JSON.stringify({ load, figures: Object.fromEntries(figures) })}\n`);
  else process.stdout.write(table(figures));
}

/** A Markdown table of medians over the rounds. */
function table(figures: ReadonlyMap<string, readonly BusFigures[]>): string {
  const rows = [['bus', ...COLUMNS.map(([, title]) => title)]];
  for (const [name, rounds] of figures) {
    rows.push([name, ...COLUMNS.map(([key, , digits]) => median(rounds.map((round) => round[key])).toFixed(digits))]);
  }
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  const line = (row: readonly string[]) => `| ${row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join(' | ')} |\n`;
  const [head = [], ...body] = rows;
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...body.map(line)].join('');
}

await runProgram(main);
