import { totalWrites } from './api-metrics.ts';
import type { ColdStart, RateResult, Results } from './results.ts';
import { median } from './statistics.ts';

/** A figure over all rounds. */
export interface Figure {
  readonly median: number;
  readonly least: number;
  readonly most: number;
}

export type ColdStartColumn =
  | 'completeSeconds'
  | 'firstWriteSeconds'
  | 'writes'
  | 'cpuSeconds'
  | 'apiServerCpuSeconds'
  | 'peakMemoryMb';

export type RateColumn =
  | 'p50'
  | 'p90'
  | 'p99'
  | 'endpointsP50'
  | 'endpointsP99'
  | 'missing'
  | 'writesPerFlip'
  | 'cpuMsPerFlip'
  | 'apiServerCpuMsPerFlip'
  | 'etcdCpuMsPerFlip'
  | 'trafficKbPerFlip'
  | 'peakMemoryMb';

/** One controller over all rounds. */
export interface ControllerSummary {
  readonly controller: string;
  readonly coldStart: Readonly<Record<ColdStartColumn, Figure>>;
  readonly restart: Readonly<Record<ColdStartColumn, Figure>> | undefined;
  readonly rates: readonly { readonly phase: string; readonly figures: Readonly<Record<RateColumn, Figure>> }[];
}

/** Summaries by controller, in the order of their first run. */
export function summarize({ runs }: Pick<Results, 'runs'>): readonly ControllerSummary[] {
  const names = [...new Set(runs.map(({ controller }) => controller))];
  return names.map((controller) => {
    const own = runs.filter((run) => run.controller === controller);
    const phases = [...new Set(own.flatMap((run) => run.rates.map(phaseOf)))];
    const restarts = own.flatMap(({ restart }) => restart ?? []);
    return {
      controller,
      coldStart: figures(own.map(({ coldStart }) => coldStartRow(coldStart))),
      restart: restarts.length > 0 ? figures(restarts.map(coldStartRow)) : undefined,
      rates: phases.map((phase) => ({
        phase,
        figures: figures(own.flatMap((run) => run.rates.filter((result) => phaseOf(result) === phase).map(rateRow))),
      })),
    };
  });
}

/** Name of a phase. */
export const phaseOf = ({ phase, rate }: Pick<RateResult, 'phase' | 'rate'>): string => phase ?? `${rate} flips/s`;

function coldStartRow({ completeSeconds, firstWriteSeconds, cost }: ColdStart): Record<ColdStartColumn, number> {
  return {
    completeSeconds,
    firstWriteSeconds,
    writes: totalWrites(cost.writes),
    cpuSeconds: cost.cpuSeconds.controller,
    apiServerCpuSeconds: cost.cpuSeconds.apiServer,
    peakMemoryMb: cost.peakMemoryMb,
  };
}

function rateRow({ latencyMs, endpointsLatencyMs, missing, flips, cost }: RateResult): Record<RateColumn, number> {
  const perFlip = (seconds: number) => (seconds * 1000) / flips;
  return {
    p50: latencyMs.p50,
    p90: latencyMs.p90,
    p99: latencyMs.p99,
    endpointsP50: endpointsLatencyMs?.p50 ?? Number.NaN,
    endpointsP99: endpointsLatencyMs?.p99 ?? Number.NaN,
    missing,
    writesPerFlip: totalWrites(cost.writes) / flips,
    cpuMsPerFlip: perFlip(cost.cpuSeconds.controller),
    apiServerCpuMsPerFlip: perFlip(cost.cpuSeconds.apiServer),
    etcdCpuMsPerFlip: perFlip(cost.cpuSeconds.etcd),
    trafficKbPerFlip: ((cost.traffic?.read ?? Number.NaN) + (cost.traffic?.written ?? Number.NaN)) / 1000 / flips,
    peakMemoryMb: cost.peakMemoryMb,
  };
}

function figures<Column extends string>(rows: readonly Record<Column, number>[]): Record<Column, Figure> {
  const columns = Object.keys(rows[0] ?? {}) as Column[];
  const figure = (column: Column): Figure => {
    // JSON has no NaN: results read from a file may hold null.
    const values = rows.map((row) => row[column] ?? Number.NaN).filter((value) => !Number.isNaN(value));
    return { median: median(values), least: Math.min(...values), most: Math.max(...values) };
  };
  return Object.fromEntries(columns.map((column) => [column, figure(column)])) as Record<Column, Figure>;
}
