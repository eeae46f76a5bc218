import type { MeasuredClusters } from './clusters/clusters-measure.ts';
import type { RateResult, Run } from './results.ts';
import { median, percentile } from './statistics.ts';
import type { Takeover } from './takeover-measure.ts';
import type { Throughput } from './throughput-measure.ts';

/** A measured figure and the largest that is wanted. */
export interface Target {
  readonly name: string;
  readonly target: number;
  readonly measured: number;
}

const cpuMsPerFlip = ({ cost, flips }: RateResult) => (cost.cpuSeconds.controller * 1_000) / flips;
const peakMb = ({ coldStart, rates }: Run) =>
  Math.max(coldStart.cost.peakMemoryMb, ...rates.map(({ cost }) => cost.peakMemoryMb));

/** The worker beside `sluice run` and kube-controller-manager. */
export function compareControllers(runs: readonly Run[], rates: readonly number[]): readonly Target[] {
  const of = (controller: string, figure: (run: Run) => number) =>
    median(runs.filter((run) => run.controller === controller).map(figure));
  const at = (controller: string, rate: number, figure: (result: RateResult) => number) =>
    of(controller, (run) => {
      const result = run.rates.find((one) => one.rate === rate);
      return result === undefined ? Number.NaN : figure(result);
    });
  const ratio = (
    name: string,
    target: number,
    other: string,
    rate: number,
    figure: (result: RateResult) => number,
  ) => ({
    ...{ name: `${name}, ${rate}/s`, target },
    measured: at('worker', rate, figure) / at(other, rate, figure),
  });
  const ofRate = (rate: number): readonly Target[] => [
    ratio('CPU per flip ÷ sluice run', 1.5, 'sluice', rate, cpuMsPerFlip),
    ratio('CPU per flip ÷ kube-controller-manager', 1, 'kcm-raised', rate, cpuMsPerFlip),
    ratio('p50 ÷ kube-controller-manager', 1, 'kcm-raised', rate, ({ latencyMs }) => latencyMs.p50),
    ratio('p99 ÷ kube-controller-manager', 1, 'kcm-raised', rate, ({ latencyMs }) => latencyMs.p99),
  ];
  const [lowest = 0] = rates;
  const added = (percent: 'p50' | 'p99') =>
    at('worker', lowest, ({ latencyMs }) => latencyMs[percent]) -
    at('sluice', lowest, ({ latencyMs }) => latencyMs[percent]);
  const start = (controller: string) => of(controller, ({ coldStart }) => coldStart.completeSeconds);
  return [
    ...rates.flatMap(ofRate),
    { name: `p50 ms more than sluice run, ${lowest}/s`, target: 2, measured: added('p50') },
    { name: `p99 ms more than sluice run, ${lowest}/s`, target: 5, measured: added('p99') },
    { name: 'cold start ÷ kube-controller-manager', target: 1.2, measured: start('worker') / start('kcm-raised') },
    { name: 'MB of a worker, NATS and Redis', target: 250, measured: of('worker', peakMb) },
  ];
}

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

export function judgeTakeovers(takeovers: readonly Takeover[]): readonly Target[] {
  const p99 = (signal: Takeover['signal']) =>
    percentile(
      takeovers.filter((one) => one.signal === signal).flatMap(({ milliseconds }) => milliseconds),
      0.99,
    );
  return [
    { name: 'take-over p99 ms after SIGKILL', target: 1_200, measured: p99('SIGKILL') },
    { name: 'take-over p99 ms after SIGTERM', target: 150, measured: p99('SIGTERM') },
  ];
}
