import { FLEET, SUBJECT } from './controllers.ts';
import type { Results } from './results.ts';
import { shapeTitle } from './shape.ts';
import { type ColdStartColumn, type ControllerSummary, type Figure, type RateColumn, summarize } from './summary.ts';
import { number, ratioText, type Table } from './table.ts';

const COLD_START: readonly (readonly [ColdStartColumn, string])[] = [
  ['completeSeconds', 'complete s'],
  ['firstWriteSeconds', 'first write s'],
  ['writes', 'writes'],
  ['cpuSeconds', 'CPU s'],
  ['apiServerCpuSeconds', 'API CPU s'],
  ['peakMemoryMb', 'peak MB'],
];

const RATE: readonly (readonly [RateColumn, string])[] = [
  ['p50', 'p50 ms'],
  ['p90', 'p90'],
  ['p99', 'p99'],
  ['endpointsP50', 'E p50'],
  ['endpointsP90', 'E p90'],
  ['endpointsP99', 'E p99'],
  ['samples', 'n'],
  ['missing', 'missing'],
  ['writesPerFlip', 'writes'],
  ['cpuMsPerFlip', 'CPU'],
  ['apiServerCpuMsPerFlip', 'API'],
  ['peakMemoryMb', 'MB'],
];

/**
 * A table for the cold start and one for each rate: medians over the rounds, then Sluice divided by each other controller,
 * and what its fleet adds.
 */
export function tables(results: Pick<Results, 'runs' | 'shape' | 'rounds'>): readonly Table[] {
  const summaries = summarize(results);
  const shape = shapeTitle(results.shape);
  const phases = [...new Set(summaries.flatMap((summary) => summary.rates.map(({ phase }) => phase)))];
  const restarted = summaries.some(({ restart }) => restart !== undefined);
  return [
    table(`${shape}, cold start`, COLD_START, summaries, ({ coldStart }) => coldStart, 'completeSeconds'),
    ...(restarted
      ? [table(`${shape}, restart`, COLD_START, summaries, ({ restart }) => restart, 'completeSeconds')]
      : []),
    ...phases.map((phase) =>
      table(
        `${shape}, ${phase}`,
        RATE,
        summaries,
        (summary) => summary.rates.find((one) => one.phase === phase)?.figures,
        'p50',
      ),
    ),
  ];
}

function table<Column extends string>(
  title: string,
  columns: readonly (readonly [Column, string])[],
  summaries: readonly ControllerSummary[],
  pick: (summary: ControllerSummary) => Readonly<Record<Column, Figure>> | undefined,
  spread: Column,
): Table {
  const rows = summaries.flatMap((summary) => {
    const figures = pick(summary);
    return figures === undefined ? [] : [{ name: summary.controller, figures }];
  });
  const subject = rows.find(({ name }) => name === SUBJECT);
  const others = subject === undefined ? [] : rows.filter((row) => row !== subject);
  const spreadName = columns.find(([column]) => column === spread)?.[1] ?? spread;
  return {
    title,
    head: ['', ...columns.map(([, name]) => name), `${spreadName}, all`],
    rows: [
      ...rows.map(({ name, figures }) => ({
        cells: [name, ...columns.map(([column]) => number(figures[column].value)), range(figures[spread])],
      })),
      ...others.map(({ name, figures }) => ({
        ratio: true,
        cells: [
          name === FLEET ? `${name} adds` : `÷ ${name}`,
          ...columns.map(([column]) => {
            if (column === 'samples' || column === 'missing') return '';
            const [mine, other] = [subject?.figures[column].value ?? Number.NaN, figures[column].value];
            return name === FLEET ? added(mine, other) : ratioText(mine, other);
          }),
          '',
        ],
      })),
    ],
  };
}

/** The cost of bus and store is reported in milliseconds, not as a ratio. */
function added(mine: number, other: number): string {
  const difference = other - mine;
  return `${difference > 0 ? '+' : ''}${number(difference)}`;
}

function range({ least, most }: Figure): string {
  return `${number(least)}–${number(most)}`;
}
