/**
 * Measures Sluice on many clusters at once. See `--help`.
 * Exit status 0 on success, 1 if a flip never became visible, 2 for a usage error, 130 when interrupted.
 */

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureNatsServer } from '@sluice/local';
import { count, list, oneOf, optionsGiven, runProgram, say } from '@sluice/program';
import { FakeClustersProcess } from './src/clusters/fake-clusters-process.ts';
import { completed, runOn } from './src/clusters/run.ts';
import { Fleet } from './src/fleet.ts';
import { outputOf, printResults } from './src/output.ts';
import { cpuSeconds, memoryMb, peakMemoryMb, requireProcessStats, resetPeakMemory } from './src/process-stats.ts';
import { percentile } from './src/statistics.ts';
import { number, type Table } from './src/table.ts';

const HELP = `usage: node bench/clusters.ts [options]      (or: npm run bench:clusters -- [options])

Serves many fake clusters over HTTP from one process. Measures the start of Sluice until all Pods of every Service
are in its EndpointSlices and Endpoints; then Pods flip their readiness at a fixed rate, spread over all clusters.
Latency is from the change of the Pod to the write of the slice that shows it, both at the API server.

  --clusters N      (100)
  --services N      Services per cluster (100)
  --pods N          Pods per Service (10)
  --rate N          changes per second over all clusters (200)
  --seconds N       duration (30)
  --topologies LIST all-in-one: one process; distributed: one process per role, NATS and Redis (all-in-one)
  --seed N          seed of the changes (1)
  --output FORMAT   table, json or markdown (table)
  --timeout N       maximum wait for the start, in seconds (240)
  --help            this text
`;

const TOPOLOGIES = ['all-in-one', 'distributed'] as const;

interface Measured {
  readonly topology: (typeof TOPOLOGIES)[number];
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
  readonly timeoutSeconds: number;
}

const DEFAULTS = {
  clusters: '100',
  services: '100',
  pods: '10',
  rate: '200',
  seconds: '30',
  topologies: 'all-in-one',
  seed: '1',
  output: 'table',
  timeout: '240',
};

async function main(): Promise<void> {
  const values = optionsGiven(DEFAULTS, HELP);
  if (values === undefined) return;
  const output = outputOf(values.output);
  const topologies = list(values.topologies).map((one) => oneOf('topologies', one, TOPOLOGIES));
  const options: Options = {
    clusters: count('clusters', values.clusters),
    shape: { services: count('services', values.services), pods: count('pods', values.pods) },
    rate: count('rate', values.rate),
    seconds: count('seconds', values.seconds),
    seed: count('seed', values.seed),
    timeoutSeconds: count('timeout', values.timeout),
  };
  requireProcessStats();
  if (topologies.includes('distributed')) await ensureNatsServer(say);
  const measured: Measured[] = [];
  for (const topology of topologies) measured.push(await measure(topology, options));
  printResults(output, { tables: [tableOf(options, measured)], conditions: '', json: { ...options, measured } });
  if (measured.some(({ missing }) => missing > 0)) process.exitCode = 1;
}

async function measure(topology: Measured['topology'], options: Options): Promise<Measured> {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-bench-clusters-'));
  const kubeconfigs = join(directory, 'kubeconfigs');
  mkdirSync(kubeconfigs);
  const fakes = await FakeClustersProcess.start({ ...options, directory: kubeconfigs });
  say(`${topology}: ${options.clusters} clusters started`);
  const fleet = topology === 'distributed' ? await Fleet.start({ directory, kubeconfig: kubeconfigs }) : undefined;
  const startedAt = performance.now();
  const processes =
    fleet === undefined
      ? [await runOn(kubeconfigs, directory)]
      : await Promise.all((['watcher', 'reconciler', 'writer'] as const).map((role) => fleet.run(role)));
  const sum = (of: (pid: number) => number) =>
    processes.reduce((total, { pid }) => total + (pid === undefined ? 0 : of(pid)), 0);
  await completed(fakes, options.clusters, options.timeoutSeconds);
  const completeSeconds = (performance.now() - startedAt) / 1000;
  say(`${topology}: complete after ${completeSeconds.toFixed(1)} s`);
  const [startCpuSeconds, startPeakMb] = [sum(cpuSeconds), sum(peakMemoryMb)];
  const all = { among: options.clusters, measured: options.clusters };
  // Warms up the code that a start does not use.
  await fakes.request('flip', { rate: options.rate, seconds: 5, ...all });
  for (const { pid } of processes) if (pid !== undefined) resetPeakMemory(pid);
  const cpuBefore = sum(cpuSeconds);
  const { rate, seconds } = options;
  const { flips, latencies, missing, lateMs } = await fakes.request('flip', { rate, seconds, ...all });
  const cpu = sum(cpuSeconds) - cpuBefore;
  const result: Measured = {
    ...{ topology, completeSeconds, startCpuSeconds, startPeakMb, missing, lateMs },
    ...{ p50: percentile(latencies, 0.5), p99: percentile(latencies, 0.99), max: percentile(latencies, 1) },
    ...{ cpuMsPerChange: (cpu * 1000) / flips, peakMb: sum(peakMemoryMb), mb: sum(memoryMb) },
  };
  if (fleet === undefined) for (const one of processes) await one.stop(20_000);
  else await fleet.stop();
  fakes.stop();
  // Kept on failure: it contains the logs.
  rmSync(directory, { recursive: true, force: true });
  return result;
}

function tableOf({ clusters, shape, rate, seconds }: Options, measured: readonly Measured[]): Table {
  return {
    title: `${clusters} clusters × ${shape.services} Services × ${shape.pods} Pods, ${rate} changes/s for ${seconds} s`,
    head: [
      ...['', 'complete s', 'start CPU s', 'start peak MB', 'p50 ms', 'p99 ms', 'max ms', 'missing', 'CPU ms/change'],
      ...['peak MB', 'MB at the end', 'load late ms'],
    ],
    rows: measured.map((one) => ({
      ratio: false,
      cells: [
        one.topology,
        ...[one.completeSeconds, one.startCpuSeconds, one.startPeakMb, one.p50, one.p99, one.max, one.missing],
        ...[one.cpuMsPerChange, one.peakMb, one.mb, one.lateMs],
      ].map((cell) => (typeof cell === 'number' ? number(cell) : cell)),
    })),
  };
}

await runProgram(main);
