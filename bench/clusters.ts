/** Measures Sluice on many clusters at once. See `--help`. */

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ensureNatsServer } from '@sluice/local';
import { integer, say, selection } from '@sluice/program';
import { FakeClustersProcess } from './src/clusters/fake-clusters-process.ts';
import { completed, runOn } from './src/clusters/run.ts';
import { Fleet } from './src/fleet.ts';
import { cpuSeconds, memoryMb, peakMemoryMb, resetPeakMemory } from './src/process-stats.ts';
import { runBench } from './src/run-bench.ts';
import { percentile } from './src/statistics.ts';
import { number, type Table } from './src/table.ts';

const TOPOLOGIES = ['all-in-one', 'worker', 'distributed'] as const;

/** The processes of a fleet that are measured, with its NATS and Redis. */
const rolesOf = { worker: ['worker'], distributed: ['watcher', 'reconciler', 'writer'] } as const;

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
  readonly idleCpuMsPerSecond: number;
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

const idleSeconds = 10;

async function measure(topology: Measured['topology'], options: Options, parent: string): Promise<Measured> {
  const directory = join(parent, topology);
  const kubeconfigs = join(directory, 'kubeconfigs');
  mkdirSync(kubeconfigs, { recursive: true });
  const fakes = await FakeClustersProcess.start({ ...options, directory: kubeconfigs });
  say(`${topology}: ${options.clusters} clusters started`);
  const fleet = topology === 'all-in-one' ? undefined : await Fleet.start({ directory, kubeconfig: kubeconfigs });
  const startedAt = performance.now();
  const processes =
    fleet === undefined || topology === 'all-in-one'
      ? [await runOn(kubeconfigs, directory)]
      : [
          ...(await Promise.all(rolesOf[topology].map((role) => fleet.run(role)))),
          fleet.nats.process,
          fleet.redis.process,
        ];
  const sum = (of: (pid: number) => number) =>
    processes.reduce((total, { pid }) => total + (pid === undefined ? 0 : of(pid)), 0);
  await completed(fakes, options.clusters, options.timeoutSeconds);
  const completeSeconds = (performance.now() - startedAt) / 1000;
  say(`${topology}: complete after ${completeSeconds.toFixed(1)} s`);
  const [startCpuSeconds, startPeakMb] = [sum(cpuSeconds), sum(peakMemoryMb)];
  const idleBefore = sum(cpuSeconds);
  await sleep(idleSeconds * 1_000);
  const idleCpuMsPerSecond = ((sum(cpuSeconds) - idleBefore) * 1_000) / idleSeconds;
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
    ...{ idleCpuMsPerSecond, cpuMsPerChange: (cpu * 1000) / flips, peakMb: sum(peakMemoryMb), mb: sum(memoryMb) },
  };
  if (fleet === undefined) for (const one of processes) await one.stop(20_000);
  else await fleet.stop();
  fakes.stop();
  return result;
}

function tableOf({ clusters, shape, rate, seconds }: Options, measured: readonly Measured[]): Table {
  return {
    title: `${clusters} clusters × ${shape.services} Services × ${shape.pods} Pods, ${rate} changes/s for ${seconds} s`,
    head: [
      ...[
        '',
        'complete s',
        'start CPU s',
        'start peak MB',
        'p50 ms',
        'p99 ms',
        'max ms',
        'missing',
        'idle CPU ms/s',
        'CPU ms/change',
      ],
      ...['peak MB', 'MB at the end', 'MB/cluster', 'load late ms'],
    ],
    rows: measured.map((one) => ({
      cells: [
        one.topology,
        ...[one.completeSeconds, one.startCpuSeconds, one.startPeakMb, one.p50, one.p99, one.max, one.missing],
        ...[one.idleCpuMsPerSecond, one.cpuMsPerChange, one.peakMb, one.mb, one.mb / clusters, one.lateMs],
      ].map((cell) => (typeof cell === 'number' ? number(cell) : cell)),
    })),
  };
}

await runBench({
  name: 'clusters',
  about: `Serves many fake clusters over HTTP from one process. Measures the start of Sluice until all Pods of every Service
are in its EndpointSlices and Endpoints; then Pods flip their readiness at a fixed rate, spread over all clusters.
Latency is from the change of the Pod to the write of the slice that shows it, both at the API server. Exit status 1
if a flip never became visible.
`,
  options: {
    clusters: integer(100, 'clusters'),
    services: integer(100, 'Services per cluster'),
    pods: integer(10, 'Pods per Service'),
    rate: integer(200, 'changes per second over all clusters'),
    seconds: integer(30, 'duration'),
    topologies: selection(
      TOPOLOGIES,
      'one process, a worker, or one process per role; the last two with NATS and Redis',
      ['all-in-one'],
    ),
    seed: integer(1, 'seed of the changes'),
    timeout: integer(240, 'maximum wait for the start, in seconds'),
  },
  async measure({ clusters, services, pods, rate, seconds, topologies, seed, timeout }, directory) {
    const options: Options = { clusters, shape: { services, pods }, rate, seconds, seed, timeoutSeconds: timeout };
    if (topologies.some((topology) => topology !== 'all-in-one')) await ensureNatsServer(say);
    const measured: Measured[] = [];
    for (const topology of topologies) measured.push(await measure(topology, options, directory));
    return {
      tables: [tableOf(options, measured)],
      json: { ...options, measured },
      failed: measured.some(({ missing }) => missing > 0),
    };
  },
});
