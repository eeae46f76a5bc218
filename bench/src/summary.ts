import { totalWrites } from './api-metrics.ts';
import { merged, percentileIn, sizeOf } from './histogram.ts';
import type { Arrival, ColdStart, RateResult, Results } from './results.ts';
import { isReliable, median } from './statistics.ts';

/** A figure over all rounds. */
export interface Figure {
  /** The median of the rounds; of latencies, the percentile over the samples of all rounds; of counts, the sum. */
  readonly value: number;
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
  | 'endpointsP90'
  | 'endpointsP99'
  | 'samples'
  | 'endpointsSamples'
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
        figures: rateFigures(own.flatMap((run) => run.rates.filter((result) => phaseOf(result) === phase))),
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

function rateFigures(results: readonly RateResult[]): Record<RateColumn, Figure> {
  const sum = (of: (result: RateResult) => number): Figure => {
    const { least, most } = spread(results.map(of));
    return { value: results.reduce((total, result) => total + of(result), 0), least, most };
  };
  const at = (share: number, of: (result: RateResult) => Arrival | undefined): Figure => {
    const rounds = results.map((result) => percentileIn(of(result)?.histogram ?? [], share));
    const all = merged(results.map((result) => of(result)?.histogram ?? []));
    return { ...spread(rounds), value: isReliable(sizeOf(all), share) ? percentileIn(all, share) : Number.NaN };
  };
  return {
    ...figures(results.map(costRow)),
    p50: at(0.5, ({ slices }) => slices),
    p90: at(0.9, ({ slices }) => slices),
    p99: at(0.99, ({ slices }) => slices),
    endpointsP50: at(0.5, ({ endpoints }) => endpoints),
    endpointsP90: at(0.9, ({ endpoints }) => endpoints),
    endpointsP99: at(0.99, ({ endpoints }) => endpoints),
    samples: sum(({ slices }) => sizeOf(slices.histogram)),
    endpointsSamples: sum(({ endpoints }) => sizeOf(endpoints?.histogram ?? [])),
    missing: sum(({ slices, endpoints }) => slices.missing + (endpoints?.missing ?? 0)),
  };
}

type CostColumn = Exclude<RateColumn, `p${string}0` | 'p99' | `endpoints${string}` | 'samples' | 'missing'>;

function costRow({ flips, cost }: RateResult): Record<CostColumn, number> {
  const perFlip = (seconds: number) => (seconds * 1000) / flips;
  return {
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
    const values = rows.map((row) => row[column] ?? Number.NaN);
    return { value: median(values), ...spread(values) };
  };
  return Object.fromEntries(columns.map((column) => [column, figure(column)])) as Record<Column, Figure>;
}

function spread(values: readonly number[]): Pick<Figure, 'least' | 'most'> {
  const known = values.filter((value) => !Number.isNaN(value));
  return { least: Math.min(...known), most: Math.max(...known) };
}
