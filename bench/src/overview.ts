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
  | 'writesPerFlip'
  | 'cpuMsPerFlip'
  | 'apiServerCpuMsPerFlip'
  | 'peakMemoryMb';

const COLUMNS: readonly (readonly [OutlineColumn, string])[] = [
  ['p50', 'p50'],
  ['p90', 'p90'],
  ['p99', 'p99'],
  ['writesPerFlip', 'writes'],
  ['cpuMsPerFlip', 'CPU'],
  ['apiServerCpuMsPerFlip', 'API CPU'],
  ['peakMemoryMb', 'memory'],
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
  const inMs = ({ median, least, most }: Figure): Figure => ({
    median: median * 1000,
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

/** Sluice divided by another controller, by phase. */
export function overview(all: readonly Outline[], other: string): Table {
  return {
    title: `Sluice ÷ ${other}`,
    head: ['', ...COLUMNS.map(([, name]) => name), 'p50 ms of both', 'CPU ms of both'],
    rows: all.flatMap(({ workload, phase, figures }) => {
      const [mine, theirs] = [figures.get(SUBJECT), figures.get(other)];
      if (mine === undefined || theirs === undefined) return [];
      const both = (column: OutlineColumn) =>
        `${number(mine[column]?.median ?? Number.NaN)} · ${number(theirs[column]?.median ?? Number.NaN)}`;
      const ratios = COLUMNS.map(([column]) => ratioText(mine[column]?.median, theirs[column]?.median));
      return [{ cells: [`${workload}, ${phase}`, ...ratios, both('p50'), both('cpuMsPerFlip')] }];
    }),
  };
}
