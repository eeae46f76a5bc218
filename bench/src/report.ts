import type { Results } from './results.ts';
import { type ColdStartColumn, type ControllerSummary, type Figure, type RateColumn, summarize } from './summary.ts';

/** A table as text cells. Rows of ratios are marked, so that they can be set apart. */
export interface Table {
  readonly title: string;
  readonly head: readonly string[];
  readonly rows: readonly { readonly ratio: boolean; readonly cells: readonly string[] }[];
}

/** Sluice, which the others are compared with. */
const SUBJECT = 'sluice';

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
  ['p90', 'p90 ms'],
  ['p99', 'p99 ms'],
  ['endpointsP99', 'Endp. p99'],
  ['missing', 'missing'],
  ['writesPerFlip', 'writes'],
  ['cpuMsPerFlip', 'CPU ms'],
  ['apiServerCpuMsPerFlip', 'API CPU ms'],
  ['etcdCpuMsPerFlip', 'etcd CPU ms'],
  ['peakMemoryMb', 'peak MB'],
];

/** One table for the cold start and one for each rate; medians over the rounds, then Sluice divided by each other. */
export function tables(results: Pick<Results, 'runs' | 'shape' | 'rounds'>): readonly Table[] {
  const summaries = summarize(results);
  const { services, pods } = results.shape;
  const shape = `${services} ${services === 1 ? 'Service' : 'Services'} × ${pods} Pods`;
  const rates = [...new Set(summaries.flatMap((summary) => summary.rates.map(({ rate }) => rate)))];
  return [
    table(`${shape}, cold start`, COLD_START, summaries, ({ coldStart }) => coldStart, 'completeSeconds'),
    ...rates.map((rate) =>
      table(
        `${shape}, ${rate} flips/s`,
        RATE,
        summaries,
        (summary) => summary.rates.find((one) => one.rate === rate)?.figures,
        'p99',
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
        ratio: false,
        cells: [name, ...columns.map(([column]) => number(figures[column].median)), range(figures[spread])],
      })),
      ...others.map((other) => ({
        ratio: true,
        cells: [
          `÷ ${other.name}`,
          ...columns.map(([column]) => ratio(subject?.figures[column].median, other.figures[column].median)),
          '',
        ],
      })),
    ],
  };
}

/** Three digits are as much as a measurement of this kind holds. */
export function number(value: number): string {
  if (!Number.isFinite(value)) return '–';
  const size = Math.abs(value);
  if (size >= 100 || Number.isInteger(value)) return Math.round(value).toLocaleString('en');
  return value.toFixed(size >= 10 ? 1 : 2);
}

function ratio(mine = Number.NaN, other: number): string {
  const value = mine / other;
  return Number.isFinite(value) ? `${value.toFixed(value >= 10 ? 0 : value >= 0.1 ? 2 : 3)}×` : '–';
}

function range({ least, most }: Figure): string {
  return `${number(least)}–${number(most)}`;
}
