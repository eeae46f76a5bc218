import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ServerProcess } from '@sluice/local';
import { say } from '@sluice/program';
import { Fleet, type Role } from '../fleet.ts';
import { prepareHeapSnapshots, writeHeapSnapshots } from '../heap/write-snapshots.ts';
import { cpuSeconds, memoryMb, peakMemoryMb, resetPeakMemory } from '../process-stats.ts';
import { percentile, reliablePercentile } from '../statistics.ts';
import { FakeClusterShards } from './fake-cluster-shards.ts';
import { completed, runOn } from './run.ts';

export const topologies = ['all-in-one', 'worker', 'distributed'] as const;
export type Topology = (typeof topologies)[number];

/** The processes of a fleet that are measured, with its NATS and Redis. */
const rolesOf = (topology: 'worker' | 'distributed', workers: number): readonly Role[] =>
  topology === 'worker' ? Array.from({ length: workers }, () => 'worker') : ['watcher', 'reconciler', 'writer'];

export interface MeasuredClusters {
  readonly topology: Topology;
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
  /** Parts of `mb`, by process. */
  readonly mbOf: Readonly<Record<string, number>>;
}

export interface ClustersOptions {
  readonly clusters: number;
  readonly shape: { readonly services: number; readonly pods: number };
  readonly rate: number;
  readonly seconds: number;
  /** Processes of the topology `worker`. Default 1. */
  readonly workers?: number;
  readonly seed: number;
  readonly timeoutSeconds: number;
  /** Folder for heap snapshots at the end. */
  readonly heap?: string | undefined;
}

const idleSeconds = 10;

/** Starts the clusters and then the processes, and flips Pods once all slices are complete. */
export async function measureClusters(
  topology: Topology,
  options: ClustersOptions,
  parent: string,
): Promise<MeasuredClusters> {
  const directory = join(parent, topology);
  const kubeconfigs = join(directory, 'kubeconfigs');
  mkdirSync(kubeconfigs, { recursive: true });
  const fakes = await FakeClusterShards.start({ ...options, directory: kubeconfigs });
  try {
    say(`${topology}: ${options.clusters} clusters started`);
    if (options.heap !== undefined) prepareHeapSnapshots(options.heap);
    if (topology === 'all-in-one') return await measureAllInOne(fakes, directory, options);
    return await measureFleet(topology, fakes, directory, options);
  } finally {
    fakes.stop();
  }
}

async function measureAllInOne(
  fakes: FakeClusterShards,
  directory: string,
  options: ClustersOptions,
): Promise<MeasuredClusters> {
  const startedAt = performance.now();
  const sluice = await runOn(join(directory, 'kubeconfigs'), directory);
  try {
    return await measure({ topology: 'all-in-one', startedAt, programs: [sluice], servers: [] }, fakes, options);
  } finally {
    await sluice.stop(20_000);
  }
}

async function measureFleet(
  topology: 'worker' | 'distributed',
  fakes: FakeClusterShards,
  directory: string,
  options: ClustersOptions,
): Promise<MeasuredClusters> {
  const fleet = await Fleet.start({ directory, kubeconfig: join(directory, 'kubeconfigs') });
  try {
    const startedAt = performance.now();
    const programs = await Promise.all(rolesOf(topology, options.workers ?? 1).map((role) => fleet.run(role)));
    const servers = [fleet.nats.process, fleet.redis.process];
    return await measure({ topology, startedAt, programs, servers }, fakes, options);
  } finally {
    await fleet.stop();
  }
}

interface Started {
  readonly topology: Topology;
  /** Just before the programs were started, in milliseconds. */
  readonly startedAt: number;
  readonly programs: readonly ServerProcess[];
  readonly servers: readonly ServerProcess[];
}

async function measure(
  { topology, startedAt, programs, servers }: Started,
  fakes: FakeClusterShards,
  options: ClustersOptions,
): Promise<MeasuredClusters> {
  const processes = [...programs, ...servers];
  const sum = (of: (pid: number) => number) =>
    processes.reduce((total, { pid }) => total + (pid === undefined ? 0 : of(pid)), 0);
  await completed(() => fakes.incomplete(), options.timeoutSeconds);
  const completeSeconds = (performance.now() - startedAt) / 1000;
  say(`${topology}: complete after ${completeSeconds.toFixed(1)} s`);
  const [startCpuSeconds, startPeakMb] = [sum(cpuSeconds), sum(peakMemoryMb)];
  const idleBefore = sum(cpuSeconds);
  await sleep(idleSeconds * 1_000);
  const idleCpuMsPerSecond = ((sum(cpuSeconds) - idleBefore) * 1_000) / idleSeconds;
  // Warms up the code that a start does not use.
  await fakes.flip({ rate: options.rate, seconds: 5 });
  for (const { pid } of processes) if (pid !== undefined) resetPeakMemory(pid);
  const cpuBefore = sum(cpuSeconds);
  const { rate, seconds } = options;
  const { flips, latencies, missing, lateMs } = await fakes.flip({ rate, seconds });
  const cpu = sum(cpuSeconds) - cpuBefore;
  const result: MeasuredClusters = {
    ...{ topology, completeSeconds, startCpuSeconds, startPeakMb, missing, lateMs },
    ...{ p50: percentile(latencies, 0.5), p99: reliablePercentile(latencies, 0.99), max: percentile(latencies, 1) },
    ...{ idleCpuMsPerSecond, cpuMsPerChange: (cpu * 1000) / flips, peakMb: sum(peakMemoryMb), mb: sum(memoryMb) },
    mbOf: Object.fromEntries(processes.map(({ name, pid = 0 }) => [name, memoryMb(pid)])),
  };
  if (options.heap !== undefined) {
    await writeHeapSnapshots(
      options.heap,
      programs.flatMap(({ pid }) => pid ?? []),
    );
  }
  return result;
}
