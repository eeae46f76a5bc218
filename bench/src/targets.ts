import type { MeasuredClusters } from './clusters/clusters-measure.ts';
import type { Run } from './results.ts';
import { median } from './statistics.ts';
import { phaseOf, type RateColumn, summarize } from './summary.ts';
import type { Takeover } from './takeover-measure.ts';
import type { Throughput } from './throughput-measure.ts';

/** A measured figure and the largest that is wanted. */
export interface Target {
  readonly name: string;
  readonly target: number;
  readonly measured: number;
}

const peakMb = ({ coldStart, rates }: Run) =>
  Math.max(coldStart.cost.peakMemoryMb, ...rates.map(({ cost }) => cost.peakMemoryMb));

/** The worker beside `sluice run` and kube-controller-manager, in each phase. */
export function compareControllers(runs: readonly Run[]): readonly Target[] {
  const summaries = summarize({ runs });
  const phases = [...new Set(runs.flatMap(({ rates }) => rates.map(phaseOf)))];
  const at = (controller: string, phase: string, column: RateColumn) => {
    const rates = summaries.find((summary) => summary.controller === controller)?.rates;
    return rates?.find((rate) => rate.phase === phase)?.figures[column].value ?? Number.NaN;
  };
  const ratio = (name: string, target: number, other: string, phase: string, column: RateColumn): Target => ({
    ...{ name: `${name}, ${phase}`, target },
    measured: at('worker', phase, column) / at(other, phase, column),
  });
  const of = (controller: string, figure: (run: Run) => number) =>
    median(runs.filter((run) => run.controller === controller).map(figure));
  const start = (controller: string) => of(controller, ({ coldStart }) => coldStart.completeSeconds);
  return [
    ...phases.flatMap((phase) => [
      ratio('CPU per flip ÷ sluice run', 1.5, 'sluice', phase, 'cpuMsPerFlip'),
      ratio('CPU per flip ÷ kube-controller-manager', 1, 'kcm-raised', phase, 'cpuMsPerFlip'),
      ...percentiles.map(([name, column]) =>
        ratio(`${name} ÷ kube-controller-manager`, 1, 'kcm-raised', phase, column),
      ),
    ]),
    { name: 'cold start ÷ kube-controller-manager', target: 1.2, measured: start('worker') / start('kcm-raised') },
    { name: 'MB of a worker, NATS and Redis', target: 250, measured: of('worker', peakMb) },
  ];
}

const percentiles: readonly (readonly [string, RateColumn])[] = [
  ['p50', 'p50'],
  ['p99', 'p99'],
  ['p50 of Endpoints', 'endpointsP50'],
  ['p99 of Endpoints', 'endpointsP99'],
];

/** Changes per second. */
export interface ThroughputRates {
  /** Of all reconcilers together, however many. */
  readonly sustained: number;
  /** Of each reconciler. */
  readonly each: number;
  /** More than one can do. */
  readonly capacity: number;
}

export function judgeThroughput(
  results: readonly Throughput[],
  { sustained, each, capacity }: ThroughputRates,
): readonly Target[] {
  const of = (workers: number, rate: number, figure: (one: Throughput) => number) =>
    median(results.filter((one) => one.workers === workers && one.rate === rate).map(figure));
  // Divided by the time of a fixed workload, because processors that share a core slow each other down.
  const cpu = (workers: number, rate: number) =>
    of(workers, rate, (one) => one.cpuMicrosecondsPerChange / one.unitMicroseconds);
  const ratios = (workers: number, name: string, target: number): readonly Target[] => [
    {
      name: `CPU per Change, ${name} reconcilers ÷ one, ${sustained}/s in all`,
      ...{ target, measured: cpu(workers, sustained) / cpu(1, sustained) },
    },
    {
      name: `CPU per Change, ${name} reconcilers ÷ one, ${each}/s each`,
      ...{ target, measured: cpu(workers, each * workers) / cpu(1, each) },
    },
  ];
  return [
    ...ratios(2, 'two', 1.1),
    ...ratios(4, 'four', 1.2),
    {
      name: 'µs per Change of one reconciler',
      target: 66.7,
      measured: 1e6 / of(1, capacity, (one) => one.changesPerSecond),
    },
  ];
}

export function judgeClusters({ completeSeconds, p99 }: MeasuredClusters, clusters: number): readonly Target[] {
  const scale = clusters / 100;
  return [
    { name: `${clusters} clusters × 100 × 10, complete s`, target: 40 * scale, measured: completeSeconds },
    { name: `${clusters} clusters × 100 × 10, p99 ms at 200/s`, target: 300, measured: p99 },
  ];
}

/** The longest one: there are too few for a p99. */
export function judgeTakeovers(takeovers: readonly Takeover[]): readonly Target[] {
  const longest = (signal: Takeover['signal']) =>
    Math.max(...takeovers.filter((one) => one.signal === signal).flatMap(({ milliseconds }) => milliseconds));
  return [
    { name: 'longest take-over after SIGKILL, ms', target: 1_200, measured: longest('SIGKILL') },
    { name: 'longest take-over after SIGTERM, ms', target: 150, measured: longest('SIGTERM') },
  ];
}
