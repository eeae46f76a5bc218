/** Measures how the cost of Sluice grows with the size of a cluster. See `--help`. */

import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { integer, integers, say, text } from '@sluice/program';
import { FakeClustersProcess } from './src/clusters/fake-clusters-process.ts';
import { completed, runOn } from './src/clusters/run.ts';
import { lineChart } from './src/line-chart.ts';
import { cpuSeconds, memoryMb, peakMemoryMb } from './src/process-stats.ts';
import { runBench } from './src/run-bench.ts';
import type { Shape } from './src/shape.ts';
import { percentile, reliablePercentile } from './src/statistics.ts';
import { number, type Table } from './src/table.ts';

/** As many as Kubernetes supports at its largest: 150,000 Pods in 10,000 Services on 5,000 Nodes. */
const podsPerService = 15;
const podsPerNode = 30;

interface Measured {
  readonly pods: number;
  readonly completeSeconds: number;
  readonly startCpuSeconds: number;
  readonly startPeakMb: number;
  readonly p50: number;
  readonly p99: number;
  readonly cpuMsPerChange: number;
  readonly mb: number;
  readonly missing: number;
  readonly lateMs: number;
}

interface Options {
  readonly rate: number;
  readonly seconds: number;
  readonly timeoutSeconds: number;
  readonly directory: string;
}

async function measure(pods: number, { rate, seconds, timeoutSeconds, directory }: Options): Promise<Measured> {
  const folder = join(directory, `pods-${pods}`);
  const kubeconfigs = join(folder, 'kubeconfigs');
  mkdirSync(kubeconfigs, { recursive: true });
  const shape: Shape = {
    services: Math.max(1, Math.round(pods / podsPerService)),
    pods: podsPerService,
    nodes: Math.max(1, Math.round(pods / podsPerNode)),
  };
  const fakes = await FakeClustersProcess.start({ clusters: 1, shape, seed: 1, directory: kubeconfigs });
  const startedAt = performance.now();
  const sluice = await runOn(kubeconfigs, folder);
  const pid = sluice.pid ?? 0;
  await completed(() => fakes.request('incomplete', 1), timeoutSeconds);
  const completeSeconds = (performance.now() - startedAt) / 1000;
  say(`${pods} Pods: complete after ${completeSeconds.toFixed(1)} s`);
  const [startCpuSeconds, startPeakMb] = [cpuSeconds(pid), peakMemoryMb(pid)];
  const all = { among: 1, measured: 1 };
  // Warms up the code that a start does not use.
  await fakes.request('flip', { rate, seconds: 5, ...all });
  const cpuBefore = cpuSeconds(pid);
  const { flips, latencies, missing, lateMs } = await fakes.request('flip', { rate, seconds, ...all });
  const cpuMsPerChange = ((cpuSeconds(pid) - cpuBefore) * 1000) / flips;
  const mb = memoryMb(pid);
  await sluice.stop(20_000);
  fakes.stop();
  return {
    ...{ pods, completeSeconds, startCpuSeconds, startPeakMb, cpuMsPerChange, mb, missing, lateMs },
    ...{ p50: percentile(latencies, 0.5), p99: reliablePercentile(latencies, 0.99) },
  };
}

const columns = [
  ['complete s', 'completeSeconds'],
  ['start CPU s', 'startCpuSeconds'],
  ['start peak MB', 'startPeakMb'],
  ['p50 ms', 'p50'],
  ['p99 ms', 'p99'],
  ['CPU ms/change', 'cpuMsPerChange'],
  ['MB at the end', 'mb'],
  ['missing', 'missing'],
  ['load late ms', 'lateMs'],
] as const satisfies readonly (readonly [string, keyof Measured])[];

function tableOf(rate: number, measured: readonly Measured[]): Table {
  return {
    title: `One cluster, ${podsPerService} Pods per Service, ${podsPerNode} per Node, ${rate} changes/s`,
    head: ['Pods', ...columns.map(([head]) => head)],
    rows: measured.map((one) => ({ cells: [number(one.pods), ...columns.map(([, field]) => number(one[field]))] })),
  };
}

const charted: readonly (keyof Measured)[] = ['completeSeconds', 'startPeakMb', 'p99', 'cpuMsPerChange'];

function chartOf(measured: readonly Measured[]): string {
  const series = columns
    .filter(([, field]) => charted.includes(field))
    .map(([name, field]) => ({ name, points: measured.map((one) => [one.pods, one[field]] as const) }));
  return lineChart('One process by the size of its cluster', 'Pods', series);
}

await runBench({
  name: 'growth',
  about: `Starts \`sluice run\` on fake clusters of growing size over HTTP, up to the limits that Kubernetes supports. Measures the
start until all Pods of every Service are in its EndpointSlices and Endpoints; then Pods flip their readiness at a fixed
rate. Exit status 1 if a flip never became visible.
`,
  options: {
    pods: integers([1_500, 5_000, 15_000, 50_000, 150_000], 'numbers of Pods to measure'),
    rate: integer(100, 'changes per second'),
    seconds: integer(15, 'duration of the changes'),
    timeout: integer(240, 'maximum wait for the start, in seconds'),
    chart: text('FILE', 'file for a chart, as SVG'),
  },
  async measure({ pods, rate, seconds, timeout, chart }, directory) {
    const measured: Measured[] = [];
    for (const size of pods) measured.push(await measure(size, { rate, seconds, timeoutSeconds: timeout, directory }));
    if (chart !== undefined) writeFileSync(resolve(chart), chartOf(measured));
    return {
      tables: [tableOf(rate, measured)],
      json: { rate, seconds, measured },
      failed: measured.some(({ missing }) => missing > 0),
    };
  },
});
