/**
 * Measures Sluice on many clusters at once. `--help` tells the rest.
 * Exit status 0 if all was seen, 1 when it was not, 2 for wrong usage, 130 when interrupted.
 */

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureNatsServer } from '@sluice/local';
import { count, list, oneOf, optionsGiven, runProgram, say } from '@sluice/program';
import { completed, runOn } from './src/clusters/run.ts';
import { WorldsProcess } from './src/clusters/worlds-process.ts';
import { Fleet } from './src/fleet.ts';
import { outputOf, printResults } from './src/output.ts';
import { cpuSeconds, memoryMb, peakMemoryMb, requireProcessStats, resetPeakMemory } from './src/process-stats.ts';
import { percentile } from './src/statistics.ts';
import { number, type Table } from './src/table.ts';

const HELP = `usage: node bench/clusters.ts [options]      (or: npm run bench:clusters -- [options])

Serves many simulated clusters, which are one process, over HTTP: from the start of Sluice until every Service shows all
of its Pods in its EndpointSlices and Endpoints; then Pods become ready or not at a fixed rate, spread over all clusters.
Latency is from the change of the Pod to the write of the slice that shows it, both at the API server.

  --clusters N      (100)
  --services N      Services of each (100)
  --pods N          Pods of each Service (10)
  --rate N          changes a second, in all clusters together (200)
  --seconds N       how long (30)
  --ways LIST       all-in-one: one process; distributed: one process of each role, NATS and Redis (all-in-one)
  --seed N          which Pods change (1)
  --output FORMAT   table, json or markdown (table)
  --patience N      longest wait for the start, in seconds (240)
  --help            this text
`;

const WAYS = ['all-in-one', 'distributed'] as const;

interface Measured {
  readonly way: (typeof WAYS)[number];
  readonly completeSeconds: number;
  readonly startCpuSeconds: number;
  readonly startPeakMb: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
  readonly missing: number;
  readonly lateMs: number;
  readonly cpuMsPerChange: number;
  readonly peakMb: number;
  readonly mb: number;
}

interface Options {
  readonly clusters: number;
  readonly shape: { readonly services: number; readonly pods: number };
  readonly rate: number;
  readonly seconds: number;
  readonly seed: number;
  readonly patienceSeconds: number;
}

const DEFAULTS = {
  clusters: '100',
  services: '100',
  pods: '10',
  rate: '200',
  seconds: '30',
  ways: 'all-in-one',
  seed: '1',
  output: 'table',
  patience: '240',
};

async function main(): Promise<void> {
  const values = optionsGiven(DEFAULTS, HELP);
  if (values === undefined) return;
  const output = outputOf(values.output);
  const ways = list(values.ways).map((way) => oneOf('ways', way, WAYS));
  const options: Options = {
    clusters: count('clusters', values.clusters),
    shape: { services: count('services', values.services), pods: count('pods', values.pods) },
    rate: count('rate', values.rate),
    seconds: count('seconds', values.seconds),
    seed: count('seed', values.seed),
    patienceSeconds: count('patience', values.patience),
  };
  requireProcessStats();
  if (ways.includes('distributed')) await ensureNatsServer(say);
  const measured: Measured[] = [];
  for (const way of ways) measured.push(await measure(way, options));
  printResults(output, { tables: [tableOf(options, measured)], conditions: '', json: { ...options, measured } });
  if (measured.some(({ missing }) => missing > 0)) process.exitCode = 1;
}

async function measure(way: Measured['way'], options: Options): Promise<Measured> {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-bench-clusters-'));
  const kubeconfigs = join(directory, 'kubeconfigs');
  mkdirSync(kubeconfigs);
  const worlds = await WorldsProcess.start({ ...options, directory: kubeconfigs });
  say(`${way}: ${options.clusters} clusters are there`);
  const fleet = way === 'distributed' ? await Fleet.start({ directory, kubeconfig: kubeconfigs }) : undefined;
  const startedAt = performance.now();
  const processes =
    fleet === undefined
      ? [await runOn(kubeconfigs, directory)]
      : await Promise.all((['watcher', 'reconciler', 'writer'] as const).map((role) => fleet.run(role)));
  const sum = (of: (pid: number) => number) =>
    processes.reduce((total, { pid }) => total + (pid === undefined ? 0 : of(pid)), 0);
  await completed(worlds, options.clusters, options.patienceSeconds);
  const completeSeconds = (performance.now() - startedAt) / 1000;
  say(`${way}: complete after ${completeSeconds.toFixed(1)} s`);
  const [startCpuSeconds, startPeakMb] = [sum(cpuSeconds), sum(peakMemoryMb)];
  const all = { among: options.clusters, measured: options.clusters };
  // Warms up what a start does not use.
  await worlds.ask('flip', { rate: options.rate, seconds: 5, ...all });
  for (const { pid } of processes) if (pid !== undefined) resetPeakMemory(pid);
  const cpuBefore = sum(cpuSeconds);
  const { rate, seconds } = options;
  const { flips, latencies, missing, lateMs } = await worlds.ask('flip', { rate, seconds, ...all });
  const cpu = sum(cpuSeconds) - cpuBefore;
  const result: Measured = {
    ...{ way, completeSeconds, startCpuSeconds, startPeakMb, missing, lateMs },
    ...{ p50: percentile(latencies, 0.5), p99: percentile(latencies, 0.99), max: percentile(latencies, 1) },
    ...{ cpuMsPerChange: (cpu * 1000) / flips, peakMb: sum(peakMemoryMb), mb: sum(memoryMb) },
  };
  if (fleet === undefined) for (const one of processes) await one.stop(20_000);
  else await fleet.stop();
  worlds.stop();
  // Left behind when something failed: the logs are in it.
  rmSync(directory, { recursive: true, force: true });
  return result;
}

function tableOf({ clusters, shape, rate, seconds }: Options, measured: readonly Measured[]): Table {
  return {
    title: `${clusters} clusters × ${shape.services} Services × ${shape.pods} Pods, ${rate} changes/s for ${seconds} s`,
    head: [
      ...['', 'complete s', 'CPU s', 'peak MB', 'p50 ms', 'p99 ms', 'max ms', 'missing', 'CPU ms/change'],
      ...['peak MB then', 'MB at the end', 'load late ms'],
    ],
    rows: measured.map((one) => ({
      ratio: false,
      cells: [
        one.way,
        ...[one.completeSeconds, one.startCpuSeconds, one.startPeakMb, one.p50, one.p99, one.max, one.missing],
        ...[one.cpuMsPerChange, one.peakMb, one.mb, one.lateMs],
      ].map((cell) => (typeof cell === 'number' ? number(cell) : cell)),
    })),
  };
}

await runProgram(main);
