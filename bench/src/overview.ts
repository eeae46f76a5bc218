import { SUBJECT } from './controllers.ts';
import type { Results } from './results.ts';
import { type ControllerSummary, type Figure, summarize } from './summary.ts';
import { number, ratioText, type Table } from './table.ts';
import type { Workload } from './workloads.ts';

/** Figures of one phase of a workload, by controller. */
export interface Outline {
  readonly workload: string;
  readonly phase: string;
  readonly figures: ReadonlyMap<string, OutlineFigures>;
}

type OutlineFigures = Readonly<Partial<Record<OutlineColumn, Figure>>>;

export type OutlineColumn =
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
  | 'peakMemoryMb';

/** A column, its head, and whether it has no ratio. */
type OverviewColumn = readonly [column: OutlineColumn, head: string, isCount?: boolean];

const LATENCY: readonly OverviewColumn[] = [
  ['p50', 'slices p50'],
  ['p90', 'p90'],
  ['p99', 'p99'],
  ['endpointsP50', 'Endpoints p50'],
  ['endpointsP90', 'p90'],
  ['endpointsP99', 'p99'],
  ['samples', 'samples', true],
  ['endpointsSamples', 'of Endpoints', true],
  ['missing', 'missing', true],
];

const COST: readonly OverviewColumn[] = [
  ['cpuMsPerFlip', 'CPU ms'],
  ['apiServerCpuMsPerFlip', 'CPU ms of API server'],
  ['writesPerFlip', 'writes'],
  ['peakMemoryMb', 'MB'],
];

export function outlines(
  measured: readonly { readonly workload: Workload; readonly results: Results }[],
): readonly Outline[] {
  return measured.flatMap(({ workload, results }) => {
    const summaries = summarize(results);
    const outline = (phase: string, pick: (summary: ControllerSummary) => OutlineFigures | undefined): Outline => ({
      workload: workload.name,
      phase,
      figures: new Map(
        summaries.flatMap((summary) => {
          const figures = pick(summary);
          return figures === undefined ? [] : [[summary.controller, figures] as const];
        }),
      ),
    });
    const phases = [...new Set(summaries.flatMap(({ rates }) => rates.map(({ phase }) => phase)))];
    return [
      outline('cold start', ({ coldStart }) => startFigures(coldStart)),
      ...phases.map((phase) => outline(phase, ({ rates }) => rates.find((rate) => rate.phase === phase)?.figures)),
      ...(summaries.some(({ restart }) => restart)
        ? [outline('restart', ({ restart }) => restart && startFigures(restart))]
        : []),
    ];
  });
}

/** Maps a start to the columns of a phase: the time until all is written and its total cost. */
function startFigures({
  completeSeconds,
  cpuSeconds,
  apiServerCpuSeconds,
  peakMemoryMb,
  writes,
}: ControllerSummary['coldStart']) {
  const inMs = ({ value, least, most }: Figure): Figure => ({
    value: value * 1000,
    least: least * 1000,
    most: most * 1000,
  });
  return {
    p50: inMs(completeSeconds),
    cpuMsPerFlip: inMs(cpuSeconds),
    apiServerCpuMsPerFlip: inMs(apiServerCpuSeconds),
    writesPerFlip: writes,
    peakMemoryMb,
  };
}

/** Sluice divided by another controller, by phase: how fast both are, and what they cost. */
export function overview(all: readonly Outline[], other: string): readonly Table[] {
  const table = (title: string, columns: readonly OverviewColumn[]): Table => ({
    title,
    head: ['', ...columns.map(([, name]) => name)],
    rows: all.flatMap(({ workload, phase, figures }) => {
      const [mine, theirs] = [figures.get(SUBJECT), figures.get(other)];
      if (mine === undefined || theirs === undefined) return [];
      const cells = columns.map(([column, , isCount]) => {
        const [one, two] = [mine[column]?.value ?? Number.NaN, theirs[column]?.value ?? Number.NaN];
        if (Number.isNaN(one) && Number.isNaN(two)) return '–';
        return `${number(one)} · ${number(two)}${isCount ? '' : `, ${ratioText(one, two)}`}`;
      });
      return [{ cells: [`${workload}, ${phase}`, ...cells] }];
    }),
  });
  return [table(`Latency of Sluice · ${other}, ms`, LATENCY), table(`Cost of Sluice · ${other}`, COST)];
}
